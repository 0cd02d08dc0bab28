//! The tokens against those of html5ever, character by character.

use std::cell::RefCell;

use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::RawKind;
use html5ever::tokenizer::{
    BufferQueue, TagKind, Token as PeerToken, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts,
};
use proptest::prelude::*;

use crate::page::names::Name;
use crate::page::tokens::{TextKind, Token, Tokens};

/// A tag as words, or text.
#[derive(Clone, Debug, Eq, PartialEq)]
enum Piece {
    Start(String, Vec<(String, String)>, bool),
    End(String),
    Text(String),
}

/// Adds a text to the one before it.
fn add_text(pieces: &mut Vec<Piece>, text: &str) {
    match pieces.last_mut() {
        _ if text.is_empty() => {}
        Some(Piece::Text(before)) => before.push_str(text),
        _ => pieces.push(Piece::Text(text.to_owned())),
    }
}

fn ours(html: &str, in_foreign: bool) -> Vec<Piece> {
    let (mut pieces, mut tokens) = (Vec::new(), Tokens::new(html));
    while let Some(token) = tokens.next(in_foreign) {
        match token {
            Token::Text(text) if text.kind == TextKind::Escaped => {
                add_text(&mut pieces, &htmlize::unescape(text.written));
            }
            Token::Text(text) => add_text(&mut pieces, text.written),
            Token::Start(tag) => {
                if !in_foreign {
                    tokens.read_content_of(&tag, Name::of(tag.name));
                }
                let mut attributes: Vec<(String, String)> = Vec::new();
                for (name, _) in tag.attributes() {
                    let name = name.to_ascii_lowercase();
                    if !attributes.iter().any(|(known, _)| *known == name) {
                        let value = tag.attribute(&name).unwrap().into_owned();
                        attributes.push((name, value));
                    }
                }
                pieces.push(Piece::Start(
                    tag.name.to_ascii_lowercase(),
                    attributes,
                    tag.is_self_closing,
                ));
            }
            Token::End(name) => pieces.push(Piece::End(name.to_ascii_lowercase())),
            Token::Doctype(_) => {}
        }
    }
    pieces
}

struct Peer {
    pieces: RefCell<Vec<Piece>>,
    in_foreign: bool,
}

impl TokenSink for Peer {
    type Handle = ();

    fn process_token(&self, token: PeerToken, _line: u64) -> TokenSinkResult<()> {
        let mut pieces = self.pieces.borrow_mut();
        let PeerToken::TagToken(tag) = token else {
            if let PeerToken::CharacterTokens(text) = token {
                add_text(&mut pieces, &text);
            }
            return TokenSinkResult::Continue;
        };
        let name = tag.name.to_string();
        if tag.kind == TagKind::EndTag {
            pieces.push(Piece::End(name));
            return TokenSinkResult::Continue;
        }
        let attributes = tag.attrs.iter();
        let attributes =
            attributes.map(|one| (one.name.local.to_string(), one.value.to_string())).collect();
        let content = match name.as_str() {
            _ if self.in_foreign => TokenSinkResult::Continue,
            "title" | "textarea" => TokenSinkResult::RawData(RawKind::Rcdata),
            "style" | "xmp" | "iframe" | "noembed" | "noframes" => {
                TokenSinkResult::RawData(RawKind::Rawtext)
            }
            "script" => TokenSinkResult::RawData(RawKind::ScriptData),
            "plaintext" => TokenSinkResult::Plaintext,
            _ => TokenSinkResult::Continue,
        };
        pieces.push(Piece::Start(name, attributes, tag.self_closing));
        content
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.in_foreign
    }
}

fn theirs(html: &str, in_foreign: bool) -> Vec<Piece> {
    let sink = Peer { pieces: RefCell::default(), in_foreign };
    let tokenizer = Tokenizer::new(sink, TokenizerOpts::default());
    let queue = BufferQueue::default();
    queue.push_back(StrTendril::from(html));
    // It stops for scripts only, which this sink does not ask for.
    let _ = tokenizer.feed(&queue);
    tokenizer.end();
    tokenizer.sink.pieces.into_inner()
}

/// One line, one case that is easy to get wrong (HTML standard 13.2.5).
#[test]
fn as_html5ever_cuts() {
    let cases = [
        "a<b>c</b>d",
        "a < b <3 <> </> </ x> <?x y> <!x> <!-x> <",
        "</",
        "<a",
        "<a href",
        "<a href='x",
        "<a href=x/>",
        "<a href=x />",
        "<a / >",
        "<a//>",
        "<a/href=1>",
        "<a href = \"1\"title='2'b>",
        "<a =x==y>",
        "<a href=>",
        "<a a=1 A=2>",
        "<a b='<i>'>",
        "<a b=&amp;&copy=1&copy;>",
        "</a href=1/>",
        "<!-->a-->",
        "<!--->a-->",
        "<!---->a",
        "<!--a--!>b",
        "<!---!>a-->b",
        "<!--a-- >b-->c",
        "<!--<!-->a",
        "<!--a",
        "<!doctype html>a",
        "<!doctype html \"a>b\">c",
        "<!DOCTYPE",
        "<![CDATA[a]]>b]]>",
        "<title>a<b>&amp;</titlex></title >b",
        "<title>a</title",
        "<TITLE>a</TiTlE/x>b",
        "<style>a</b></style>c",
        "<plaintext>a</plaintext>",
        "<script>a<!--b</script>c",
        "<script>a<!--<script>b</script>c</script>d",
        "<script>a<!--<script>b-->c</script>d",
        "<script><!--><script></script>a",
        "<script><!---><script></script>a",
        "<script><!-<script></script>a",
        "<script><!--<scriptx></script>a",
        "<script><!--<script></scriptx></script></script>a",
        "<script><!--<script/</script/</script>a",
        "<script>a</script b='>'>c",
    ];
    for html in cases {
        for in_foreign in [false, true] {
            assert_eq!(ours(html, in_foreign), theirs(html, in_foreign), "{html} {in_foreign}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn as_html5ever_cuts_anything(
        parts in proptest::collection::vec(
            prop_oneof![
                4 => "[<>/!?='\"& \t\na-]{1,4}",
                3 => "</?(a|b|title|script|style|textarea|plaintext|xmp|é)[ /]?",
                2 => "<!--|-->|--!>|<!doctype |<!\\[CDATA\\[|\\]\\]>|<script|</script",
                2 => "( [ab]=|=)['\"]?[xé>&;]{0,2}['\"]?",
                1 => "&(amp|copy|notin|#65|#x41|lt)[;=x]?",
            ],
            0..24,
        ),
        in_foreign: bool,
    ) {
        let html = parts.concat();
        prop_assert_eq!(ours(&html, in_foreign), theirs(&html, in_foreign), "{}", html);
    }
}
