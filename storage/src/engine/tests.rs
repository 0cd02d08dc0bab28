use super::*;

fn engines(dir: &std::path::Path) -> Vec<Box<dyn Engine>> {
    vec![
        Box::new(MemoryEngine::default()),
        Box::new(SledEngine::open(&dir.join("sled"), 1 << 24).unwrap()),
        Box::new(RedbEngine::open(&dir.join("redb"), 1 << 24).unwrap()),
    ]
}

fn rows(engine: &dyn Engine, from: &[u8], prefix: &[u8], limit: usize) -> Vec<Vec<u8>> {
    let mut keys = Vec::new();
    engine
        .scan(from, prefix, limit, &mut |key, _| {
            keys.push(key.to_vec());
            ControlFlow::Continue(())
        })
        .unwrap();
    keys
}

/// A cache of no bytes is as small a cache as the engine can have.
#[test]
fn any_cache_will_do() {
    let dir = tempfile::tempdir().unwrap();
    for bytes in [0, u64::MAX] {
        SledEngine::open(&dir.path().join("sled"), bytes).unwrap();
        RedbEngine::open(&dir.path().join("redb"), bytes).unwrap();
    }
}

/// From, prefix, limit, and the keys that are to come.
type Scan<'a> = (&'a [u8], &'a [u8], usize, &'a [&'a [u8]]);

/// Every engine gives the same answers, and copies give the same rows.
#[test]
fn engines_agree() {
    let dir = tempfile::tempdir().unwrap();
    let engines = engines(dir.path());
    for engine in &engines {
        let name = engine.name();
        let mut batch = Batch::default();
        for key in [&b"a1"[..], b"b1", b"b2", b"b\xff", b"c", b"\xff\xff"] {
            batch.put(key, [b"v", key].concat());
        }
        batch.put(&b"b2"[..], b"last wins".to_vec());
        batch.put(&b"gone"[..], vec![]);
        batch.remove(&b"gone"[..]);
        engine.apply(batch).unwrap();
        engine.barrier().unwrap();

        assert_eq!(engine.read(b"b2").unwrap().unwrap(), b"last wins", "{name}");
        assert_eq!(engine.read(b"gone").unwrap(), None, "{name}");
        let cases: [Scan<'_>; 7] = [
            (b"", b"b", 9, &[b"b1", b"b2", b"b\xff"]),
            (b"b2", b"b", 9, &[b"b2", b"b\xff"]),
            (b"", b"b", 2, &[b"b1", b"b2"]),
            (b"c", b"b", 9, &[]),
            (b"a", b"c", 9, &[b"c"]),
            (b"", b"\xff", 9, &[b"\xff\xff"]),
            (b"", b"", 99, &[b"a1", b"b1", b"b2", b"b\xff", b"c", b"\xff\xff"]),
        ];
        for (from, prefix, limit, expect) in cases {
            let found = rows(engine.as_ref(), from, prefix, limit);
            let found: Vec<_> =
                found.iter().map(Vec::as_slice).filter(|key| *key != b"m|probe").collect();
            assert_eq!(found, expect, "{name} {from:?} {prefix:?}");
        }
    }
}

#[test]
fn copies_are_whole() {
    let dir = tempfile::tempdir().unwrap();
    let engines = engines(dir.path());
    let source = MemoryEngine::default();
    for block in 0..5_u32 {
        let mut batch = Batch::default();
        for number in 0..1_000 {
            batch.put((block * 1_000 + number).to_be_bytes(), vec![7; 20]);
        }
        source.apply(batch).unwrap();
    }
    for engine in &engines {
        assert_eq!(copy(&source, engine.as_ref()).unwrap(), 5_000);
        let back = MemoryEngine::default();
        copy(engine.as_ref(), &back).unwrap();
        let mut keys = rows(&back, b"", b"", usize::MAX);
        keys.retain(|key| key != b"m|probe");
        assert_eq!(keys, rows(&source, b"", b"", usize::MAX), "{}", engine.name());
    }
}

/// sled's flush is ours: the check passes on a fresh store and again on the next opening.
#[test]
fn sled_syncs() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        SledEngine::open(dir.path(), 1 << 20).unwrap().prove_power().unwrap();
    }
}

#[test]
fn panics_become_errors() {
    let error = guarded("sled", "read", || -> Result<(), EngineError> { panic!("tried to {}", 1) });
    assert_eq!(error.unwrap_err().to_string(), "sled could not read: it panicked: tried to 1");
}
