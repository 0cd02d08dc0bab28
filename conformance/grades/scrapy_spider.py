"""What `scrapy genspider -t crawl` makes, with a rule for all links."""

from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class LabSpider(CrawlSpider):
    name = "lab"
    rules = (Rule(LinkExtractor(), callback="parse_item", follow=True),)

    def __init__(self, seed, **arguments):
        super().__init__(**arguments)
        self.start_urls = [seed]

    def parse_item(self, response):
        return {"url": response.url}
