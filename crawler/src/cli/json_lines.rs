//! One question a line on standard input, one answer a line on standard output, in order.

use std::io::{self, BufRead, BufReader, BufWriter, Read as _, Write};

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Exit;

/// Octets of a question; a longer line is answered by an error.
const LINE_BYTES: u64 = 64 << 20;

/// Answers every line. A line that is no question is answered by its error, and the next is read.
pub(super) fn serve<Q: DeserializeOwned>(
    answer: impl Fn(Q) -> anyhow::Result<Value>,
) -> anyhow::Result<Exit> {
    let input = BufReader::new(io::stdin().lock());
    let output = BufWriter::new(io::stdout().lock());
    match answer_all(input, output, answer) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Done),
        done => done.map(|()| Exit::Done).context("could not read questions or write answers"),
    }
}

fn answer_all<Q: DeserializeOwned>(
    mut input: BufReader<impl io::Read>,
    mut output: impl Write,
    answer: impl Fn(Q) -> anyhow::Result<Value>,
) -> io::Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
            return output.flush();
        }
        let answered = if line.len() as u64 == LINE_BYTES && line.last() != Some(&b'\n') {
            input.skip_until(b'\n')?;
            Err(anyhow::anyhow!("a question has at most {LINE_BYTES} bytes"))
        } else {
            serde_json::from_slice(&line).context("no question").and_then(&answer)
        };
        let value = answered.unwrap_or_else(|error| json!({ "error": format!("{error:#}") }));
        writeln!(output, "{value}")?;
        // Whoever waits for an answer before the next question gets it.
        if input.buffer().is_empty() {
            output.flush()?;
        }
    }
}

/// The octets of a text that is given as it is, or in Base64, or not at all.
pub(super) fn octets(
    plain: Option<String>,
    coded: Option<&str>,
) -> anyhow::Result<Option<Vec<u8>>> {
    match (plain, coded) {
        (Some(text), _) => Ok(Some(text.into_bytes())),
        (None, Some(coded)) => Ok(Some(BASE64.decode(coded).context("wrong Base64")?)),
        (None, None) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_line_is_answered_and_the_next_one_too() {
        let input: &[u8] = b"1\n\n\"x\n{}\n2";
        let mut output = Vec::new();
        let double = |number: u32| Ok(json!(number * 2));
        answer_all(BufReader::new(input), &mut output, double).unwrap();
        let output = String::from_utf8(output).unwrap();
        let lines: Vec<_> = output.lines().collect();
        assert_eq!((lines[0], lines[4], lines.len()), ("2", "4", 5));
        assert!(lines[1..4].iter().all(|line| line.starts_with("{\"error\":")), "{lines:?}");
    }
}
