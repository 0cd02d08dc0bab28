//! Lives told in events: one line, one case.

use super::*;

const FILE: &str = r#"{"t_s":0,"status":200,"body":"user-agent: *\ndisallow: /x"}"#;
const DAY: u64 = 86_400;

/// Policy, events, time and path of the question: whether allowed, the reason.
#[track_caller]
fn check(policy: &str, events: &[&str], ask: (u64, &str), expect: (bool, &str)) -> Value {
    let (t_s, path) = ask;
    let text = format!(
        r#"{{"policy":"{policy}","agents":["me"],"events":[{}],
            "ask":[{{"t_s":{t_s},"url":"https://h.example{path}"}}]}}"#,
        events.join(",")
    );
    let told = answer(serde_json::from_str(&text).unwrap()).unwrap();
    let first = &told["answers"][0];
    assert_eq!(
        (&first["allowed"], &first["reason"]),
        (&expect.0.into(), &expect.1.into()),
        "{text}"
    );
    told
}

/// RT-020 to RT-029, AM-6 to AM-12.
#[test]
fn stages() {
    let down = r#"{"t_s":86400,"error":"timeout"}"#;
    let first_down = r#"{"t_s":0,"status":503}"#;
    check("google", &[], (0, "/a"), (false, "robots-not-fetched"));
    check("google", &[FILE], (1, "/a"), (true, "robots-no-rule"));
    check("google", &[FILE], (1, "/x"), (false, "robots-disallow"));
    check("google", &[FILE], (2 * DAY, "/x"), (false, "robots-disallow"));
    check("google", &[FILE, down], (DAY + 3600, "/a"), (false, "robots-unreachable"));
    check("google", &[FILE, down], (DAY + 13 * 3600, "/a"), (true, "robots-last-good"));
    check("google", &[FILE, down], (DAY + 13 * 3600, "/x"), (false, "robots-disallow"));
    check("google", &[FILE, down], (32 * DAY, "/x"), (false, "robots-unreachable"));
    check("google", &[first_down], (13 * 3600, "/x"), (true, "robots-long-gone"));
    check("courteous", &[first_down], (13 * 3600, "/x"), (false, "robots-unreachable"));
    check("rfc9309", &[first_down], (31 * DAY, "/x"), (true, "robots-long-gone"));
    let gone = r#"{"t_s":0,"status":404}"#;
    check("google", &[gone], (1, "/x"), (true, "robots-no-file"));
    let page = format!(r#"{{"t_s":{},"status":200,"url":"/"}}"#, 32 * DAY);
    check("google", &[FILE, down, &page], (32 * DAY, "/x"), (true, "robots-long-gone"));
}

/// AM-10: the probe is the page that the law asks for; the others are the fetches of the day.
#[test]
fn only_what_is_asked_for_is_the_probe() {
    let at = 32 * DAY;
    let down = |t_s: u64| format!(r#"{{"t_s":{t_s},"status":500}}"#);
    let page = |t_s: u64, status: u16, path: &str| {
        format!(r#"{{"t_s":{t_s},"status":{status},"url":"https://h.example{path}"}}"#)
    };
    let first = r#"{"t_s":0,"status":200,"body":"user-agent: *\ndisallow: /x",
        "url":"https://h.example/robots.txt"}"#;
    let robots = [first.to_owned(), down(DAY), down(at - 1)];
    let bad_pages = (0..20).map(|i| page(at + i, 500, &format!("/p{i}")));
    let told = |pages: Vec<String>, expect| {
        let events: Vec<&str> = robots.iter().chain(&pages).map(String::as_str).collect();
        check("google", &events, (at + 40, "/a"), expect);
    };
    let (up, stop) = ((true, "robots-long-gone"), (false, "robots-unreachable"));
    told(bad_pages.chain([page(at + 30, 200, "/")]).collect(), stop);
    told(vec![page(at, 200, "/"), page(at + 1, 500, "/p")], up);
    told(vec![page(at, 200, "/p")], stop);
    told(vec![page(at, 500, "/"), page(at + 1, 200, "/p")], stop);
}

/// A due refresh of a big file is no second reading of it, and time is linear in the questions.
#[test]
fn many_questions_about_a_big_file() {
    let rules = "disallow: /a-path-of-some-length\\n".repeat(14_000);
    let body = format!("user-agent: *\\n{rules}");
    let asks: Vec<String> =
        (1..=400).map(|day| format!(r#"{{"t_s":{},"url":"/b"}}"#, day * DAY)).collect();
    let text = format!(
        r#"{{"agents":["me"],"events":[{{"t_s":0,"status":200,"body":"{body}"}}],"ask":[{}]}}"#,
        asks.join(",")
    );
    let question: Question = serde_json::from_str(&text).unwrap();
    let moments = question.play().unwrap();
    for moment in &moments[1..] {
        let next = moment.next_refresh.unwrap();
        assert_eq!(next.since(moment.at).as_secs(), DAY, "as if it were fetched then");
    }
}

#[test]
fn redirects_and_broken_bodies() {
    let hop = r#"{"t_s":0,"status":301,"location":"https://other.example/r"}"#;
    check("google", &[hop, FILE], (1, "/x"), (false, "robots-disallow"));
    check("google", &[hop], (1, "/a"), (false, "robots-not-fetched"));
    let broken = r#"{"t_s":0,"status":200,"error":"cut","body":"user-agent: *"}"#;
    check("google", &[broken], (1, "/a"), (false, "robots-unreachable"));
}

/// RT-021: what one origin answers says nothing about another.
#[test]
fn origins() {
    let shop = r#"{"t_s":0,"url":"https://shop.h.example/robots.txt","status":404}"#;
    let told = check("google", &[FILE, shop], (1, "/x"), (false, "robots-disallow"));
    assert_eq!(told["refresh_at_s"], json!([DAY, DAY]));
    check("google", &[shop], (1, "/a"), (false, "robots-not-fetched"));
}

/// RT-030, AM-12, HT-010: the next refresh after each event, and the end of a wait.
#[test]
fn refreshes() {
    let short = r#"{"t_s":0,"status":200,"headers":[["cache-control","max-age=3600"]],"body":""}"#;
    let busy = r#"{"t_s":3600,"status":429,"headers":[["Retry-After","7200"]]}"#;
    let told = check("google", &[busy, short], (3700, "/a"), (false, "robots-unreachable"));
    assert_eq!(told["refresh_at_s"], json!([3600, 10_800]));
    assert_eq!(told["answers"][0]["until_s"], 10_800);
}

#[test]
fn nonsense_is_an_error() {
    for text in [
        r#"{"agents":["a b"]}"#,
        r#"{"policy":"x"}"#,
        r#"{"events":[{"t_s":0}]}"#,
        r#"{"events":[{"t_s":1e300,"status":200,"body_b64":"?"}]}"#,
        r#"{"ask":[{"t_s":0,"url":"mailto:me"}]}"#,
    ] {
        assert!(answer(serde_json::from_str(text).unwrap()).is_err(), "{text}");
    }
}
