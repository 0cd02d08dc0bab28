//! Element names as numbers, and what the HTML standard says of each.

/// An element's name, ASCII case ignored, and whether the element is HTML or foreign (SVG,
/// MathML): the letters of a short name, a hash of a long one.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Name(u64);

impl Name {
    pub(super) const fn of(name: &str) -> Self {
        Self::of_bytes(name.as_bytes())
    }

    pub(super) const fn of_bytes(name: &[u8]) -> Self {
        const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
        const FNV_PRIME: u64 = 0x0100_0000_01b3;
        const LETTERS_MAX: usize = 7;
        const IS_HASH: u64 = 1 << 63;
        let mut letters = 0;
        let mut hash = FNV_OFFSET;
        let mut rest = name;
        while let [byte, tail @ ..] = rest {
            let byte = byte.to_ascii_lowercase() as u64;
            letters = (letters << 8) | byte;
            hash = (hash ^ byte).wrapping_mul(FNV_PRIME);
            rest = tail;
        }
        Self(if name.len() <= LETTERS_MAX { letters } else { (hash & !IS_FOREIGN) | IS_HASH })
    }

    /// The foreign element of this name.
    pub(super) const fn in_foreign(self) -> Self {
        Self(self.0 | IS_FOREIGN)
    }

    pub(super) const fn is_foreign(self) -> bool {
        self.0 & IS_FOREIGN != 0
    }
}

const IS_FOREIGN: u64 = 1 << 62;

macro_rules! names {
    ($($constant:ident $name:literal)*) => {
        $(pub(super) const $constant: Name = Name::of($name);)*
    };
}

names! {
    A "a" ADDRESS "address" APPLET "applet" AREA "area"
    ARTICLE "article" ASIDE "aside" AUDIO "audio" B "b" BASE "base" BASEFONT "basefont" BGSOUND "bgsound"
    BIG "big" BLOCKQUOTE "blockquote" BODY "body" BR "br" BUTTON "button" CAPTION "caption"
    CENTER "center" CODE "code" COL "col" COLGROUP "colgroup" DD "dd"
    DETAILS "details" DIALOG "dialog" DIR "dir" DIV "div" DL "dl" DT "dt" EM "em" EMBED "embed"
    FIELDSET "fieldset" FIGCAPTION "figcaption" FIGURE "figure" FONT "font" FOOTER "footer"
    FORM "form" FRAME "frame" FRAMESET "frameset" H1 "h1" H2 "h2"
    H3 "h3" H4 "h4" H5 "h5" H6 "h6" HEAD "head" HEADER "header" HGROUP "hgroup" HR "hr"
    HTML "html" I "i" IFRAME "iframe" IMAGE "image" IMG "img" INPUT "input" KEYGEN "keygen" LI "li" LINK "link" LISTING "listing" MAIN "main"
    MALIGNMARK "malignmark" MARQUEE "marquee" MATH "math" MENU "menu" META "meta" MGLYPH "mglyph"
    NAV "nav" NOBR "nobr" NOEMBED "noembed" NOFRAMES "noframes" NOSCRIPT "noscript" OBJECT "object" OL "ol"
    OPTGROUP "optgroup" OPTION "option" P "p" PARAM "param" PLAINTEXT "plaintext" PRE "pre"
    RB "rb" RP "rp" RT "rt" RTC "rtc" RUBY "ruby" S "s"
    SCRIPT "script" SEARCH "search" SECTION "section" SELECT "select" SMALL "small" SOURCE "source" SPAN "span"
    STRIKE "strike" STRONG "strong" STYLE "style" SUB "sub" SUMMARY "summary" SUP "sup" SVG "svg" TABLE "table" TBODY "tbody"
    TD "td" TEMPLATE "template" TEXTAREA "textarea" TFOOT "tfoot" TH "th" THEAD "thead"
    TIME "time" TITLE "title" TR "tr" TRACK "track" TT "tt" U "u" UL "ul" VAR "var" VIDEO "video" WBR "wbr" XMP "xmp"
}

macro_rules! foreign_names {
    ($($constant:ident $name:literal)*) => {
        $(pub(super) const $constant: Name = Name::of($name).in_foreign();)*
    };
}

foreign_names! {
    ANNOTATION_XML "annotation-xml" DESC "desc" FOREIGN_OBJECT "foreignobject" MI "mi" MN "mn"
    MO "mo" MS "ms" MTEXT "mtext" SVG_A "a" SVG_IMAGE "image" SVG_SCRIPT "script" SVG_STYLE "style" SVG_TITLE "title"
}

/// No element, where a start tag makes none.
pub(super) const NOTHING: Name = Name::of("");
/// A foreign element whose name would mean something elsewhere. No end tag closes it by name.
pub(super) const ORDINARY_FOREIGN: Name = Name::of("").in_foreign();
/// A MathML `annotation-xml` that does not say it holds HTML. No end tag closes it by name.
pub(super) const PLAIN_ANNOTATION: Name = Name::of("annotation").in_foreign();

impl Name {
    /// Elements that carry `data-nosnippet` (SN-001).
    pub(super) fn may_hide_snippet(self) -> bool {
        matches!(self, SPAN | DIV | SECTION)
    }

    /// Elements that may stand in `head`; any other ends it (LK-007).
    pub(super) fn belongs_in_head(self) -> bool {
        matches!(
            self,
            HTML | HEAD | TITLE | META | LINK | SCRIPT | STYLE | BASE | NOSCRIPT | TEMPLATE
        ) || matches!(self, BASEFONT | BGSOUND | NOFRAMES)
    }

    /// Elements that count where frames take the place of a body; rules for robots among them, though
    /// the standard ignores them there.
    pub(super) fn belongs_to_frames(self) -> bool {
        matches!(self, HTML | META | FRAME | FRAMESET | NOFRAMES)
    }

    /// Elements whose text a reader does not see as text of the page.
    pub(super) fn is_silent(self) -> bool {
        matches!(
            self,
            TITLE | STYLE | SCRIPT | TEXTAREA | IFRAME | NOEMBED | NOFRAMES | NOSCRIPT | TEMPLATE
        ) || matches!(self, DESC | SVG_SCRIPT | SVG_STYLE | SVG_TITLE)
    }

    /// Elements that begin and end a line.
    pub(super) fn breaks_line(self) -> bool {
        self.is_block() || self.is_heading() || self.is_table_part() || {
            matches!(self, P | BR | HR | LI | DD | DT | TABLE | FORM | OPTION | XMP)
                || matches!(self, OPTGROUP | BODY)
        }
    }

    pub(super) fn is_heading(self) -> bool {
        matches!(self, H1 | H2 | H3 | H4 | H5 | H6)
    }

    /// Blocks whose start tag closes a `p`, and whose end tag closes what is open inside them.
    pub(super) fn is_block(self) -> bool {
        matches!(
            self,
            ADDRESS | ARTICLE | ASIDE | BLOCKQUOTE | CENTER | DETAILS | DIALOG | DIR | DIV | DL
        ) || matches!(self, FIELDSET | FIGCAPTION | FIGURE | FOOTER | HEADER | HGROUP | LISTING)
            || matches!(self, MAIN | MENU | NAV | OL | PRE | SEARCH | SECTION | SUMMARY | UL)
    }

    /// Other elements whose start tag closes a `p`. Not `table`: in quirks mode it does not.
    pub(super) fn closes_paragraph(self) -> bool {
        self.is_block() || self.is_heading() || matches!(self, P | FORM | HR | PLAINTEXT | XMP)
    }

    /// Elements whose end tag is carried out by the adoption agency.
    pub(super) fn is_formatting(self) -> bool {
        matches!(self, A | B | BIG | CODE | EM | FONT | I | NOBR | S | SMALL)
            || matches!(self, STRIKE | STRONG | TT | U)
    }

    /// Elements whose end tag may be left out where another ends or begins.
    pub(super) fn is_implied_end(self) -> bool {
        matches!(self, DD | DT | LI | OPTGROUP | OPTION | P | RB | RP | RT | RTC)
    }

    pub(super) fn is_table_part(self) -> bool {
        matches!(self, CAPTION | COLGROUP | TBODY | TD | TFOOT | TH | THEAD | TR)
    }

    /// Elements without content or end tag.
    pub(super) fn is_void(self) -> bool {
        matches!(self, AREA | BASE | BASEFONT | BGSOUND | BR | COL | EMBED | FRAME | HR | IMG)
            || matches!(self, INPUT | KEYGEN | LINK | META | PARAM | SOURCE | TRACK | WBR)
    }

    /// Elements of which a document has one, wherever its tags stand; not put on the stack here.
    pub(super) fn is_unstacked(self) -> bool {
        matches!(self, HTML | HEAD | BODY | FRAMESET)
    }

    /// HTML elements that may not stand in foreign content and so end it.
    pub(super) fn leaves_foreign(self) -> bool {
        self.is_heading()
            || matches!(self, B | BIG | BLOCKQUOTE | BODY | BR | CENTER | CODE | DD | DIV | DL)
            || matches!(self, DT | EM | EMBED | HEAD | HR | I | IMG | LI | LISTING | MENU | META)
            || matches!(self, NOBR | OL | P | PRE | RUBY | S | SMALL | SPAN | STRONG | STRIKE)
            || matches!(self, SUB | SUP | TABLE | TT | U | UL | VAR)
    }

    /// The standard's "special" elements that can be open, which stop a stray end tag.
    pub(super) fn is_special(self) -> bool {
        (self.is_block() && self != DIALOG)
            || self.is_heading()
            || self.is_table_part()
            || self.is_scope_boundary()
            || matches!(self, BUTTON | DD | DT | FORM | IFRAME | LI | NOEMBED | NOFRAMES | NOSCRIPT)
            || matches!(self, P | PLAINTEXT | SCRIPT | SELECT | STYLE | TEXTAREA | TITLE | XMP)
    }

    /// Elements that "has an element in scope" does not look beyond, foreign ones included.
    pub(super) fn is_scope_boundary(self) -> bool {
        matches!(self, APPLET | CAPTION | MARQUEE | OBJECT | SELECT | TABLE | TD | TEMPLATE | TH)
            || self.is_integration_point()
    }

    /// Elements that formatting begun in them does not outlast, and formatting begun outside is not
    /// open again in.
    pub(super) fn is_formatting_boundary(self) -> bool {
        matches!(self, APPLET | CAPTION | MARQUEE | OBJECT | TD | TEMPLATE | TH)
    }

    /// Foreign elements that can hold HTML.
    pub(super) fn is_integration_point(self) -> bool {
        self.is_annotation() || self.is_math_point() || self.is_svg_point()
    }

    pub(super) fn is_annotation(self) -> bool {
        self == ANNOTATION_XML
    }

    pub(super) fn is_math_point(self) -> bool {
        matches!(self, MI | MN | MO | MS | MTEXT)
    }

    pub(super) fn is_svg_point(self) -> bool {
        matches!(self, DESC | FOREIGN_OBJECT | SVG_TITLE)
    }
}
