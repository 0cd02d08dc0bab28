//! When pages leave the results, while a crawl stays: each within its time.

use super::*;

const HOME: &str = "https://a.example/";
const PAGE: &str = "https://a.example/page";
const ROBOTS: &str = "https://a.example/robots.txt";
const HOUR: Duration = Duration::from_secs(3600);

/// What happens to a page ten hours after the crawl began.
type Turn = fn(&Web);

fn page(meta: &str) -> Answer {
    html(&format!("<meta name=robots content='{meta}'><title>Page</title>plums and pears"))
}

/// Hours after the turn at which the page is no more found, looked at every half hour.
async fn hours_until_gone(before: Answer, turn: Turn) -> f64 {
    let web = Web::new(
        Clock::starting_at(T0),
        [(HOME, html("<a href=/page>the page</a>")), (PAGE, before)],
    );
    let mut config = config(HOME);
    config.recrawl.stay = true;
    let (data, stop) = (Data::new(), CancellationToken::new());
    let crawl = data.crawl_until(&web, &config, stop.clone());
    let look = async {
        tokio::time::sleep(10 * HOUR).await;
        assert_eq!(data.found("plums", web.clock.now()), 1, "it is found before");
        turn(&web);
        let turned_at = web.clock.now();
        for _ in 0..200 {
            if data.found("plums", web.clock.now()) == 0 {
                let waited = web.clock.now().since(turned_at);
                stop.cancel();
                return waited.as_secs_f64() / 3600.0;
            }
            tokio::time::sleep(HOUR / 2).await;
        }
        stop.cancel();
        f64::INFINITY
    };
    tokio::join!(crawl, look).1
}

/// A new page is looked at again after a day (`recrawl.first`), and a robots.txt lasts a day (RT-030).
/// So what a page says of itself counts after 14 hours here, and what robots.txt says after the page
/// is due once more at the latest. Its own date counts to the second. One line, one case: what it
/// was, what happens, and the hours that this may take.
#[tokio::test(start_paused = true)]
async fn pages_leave_within_their_time() {
    let cases: [(&str, Answer, Turn, f64); 7] = [
        ("noindex", page("all"), |web| web.set(PAGE, page("noindex")), 14.6),
        ("none", page("all"), |web| web.set(PAGE, page("none")), 14.6),
        ("404", page("all"), |web| web.set(PAGE, (404, &[], String::new())), 14.6),
        ("410", page("all"), |web| web.set(PAGE, (410, &[], String::new())), 14.6),
        (
            "X-Robots-Tag",
            page("all"),
            |web| {
                const LINES: &[(&str, &str)] =
                    &[("content-type", "text/html"), ("x-robots-tag", "noindex")];
                web.set(PAGE, (200, LINES, "plums and pears".into()));
            },
            14.6,
        ),
        (
            "disallowed",
            page("all"),
            |web| web.set(ROBOTS, robots("user-agent: *\ndisallow: /page\n")),
            24.0 + 36.6,
        ),
        // T0 is 2026-11-30T00:53:20Z; the date comes eleven hours and seven minutes later.
        ("expires", page("unavailable_after: 2026-11-30T12:00:00Z"), |_| {}, 1.6),
    ];
    for (what, before, turn, most) in cases {
        let hours = hours_until_gone(before, turn).await;
        assert!(hours <= most, "{what}: {hours} hours");
    }
}
