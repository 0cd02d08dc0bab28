// CheerioCrawler with robots.txt on, one request per domain and interval, all links followed.
import { CheerioCrawler } from '@crawlee/cheerio';

const [seed, agent, interval] = process.argv.slice(2);
const crawler = new CheerioCrawler({
    respectRobotsTxtFile: { userAgent: agent },
    sameDomainDelaySecs: Number(interval),
    navigationTimeoutSecs: 5,
    preNavigationHooks: [(_, got) => {
        got.useHeaderGenerator = false;
        got.headers = { ...got.headers, 'user-agent': `${agent}/1.0` };
    }],
    async requestHandler({ enqueueLinks }) {
        await enqueueLinks({ strategy: 'all' });
    },
});
await crawler.run([seed]);
