import os
os.makedirs('site',exist_ok=True)
def w(p,t): open('site/'+p,'w').write(t)
P=lambda t,b,h='',l=' lang=en': f'<!doctype html><html{l}><head><meta charset=utf-8><title>{t}</title>{h}</head><body>{b}</body></html>'
ps={
'a':P('Config','<h2>Installing</h2><p>The mongoose configures configurations. configure.</p>'),
'b':P('Other','<p>mongoose <a href="c.html" rel=nofollow>c nofollow</a></p>'),
'c':P('Other two','<p>mongoose</p>'),
'd':P('Fresh','<p>mongoose</p>','<meta property="article:modified_time" content="2026-11-30">'),
'old':P('Old','<p>mongoose</p>','<meta property="article:modified_time" content="2009-11-30">'),
'rdfa':P('RDFa','<div vocab="https://schema.org/" typeof="Book"><span property="name">Rdfa book</span> <time property="dateModified" datetime="2022-02-02">x</time></div>'),
'dt':P('Terms','<dl><dt>flibbertigibbet</dt><dd>a word</dd></dl>'),
'dd':P('Prose','<p>flibbertigibbet flibbertigibbet</p>'),
'mix':P('Mixed','<p>Ein deutscher Satz steht hier, und noch ein ganz langer Satz über die schönen Schiffe auf dem Meer.</p>','',''),
'badlang':P('Bad','<p>Ein Satz über die schönen Schiffe auf dem Meer und die Häfen.</p>','',' lang=de-AT'),
'nos':P('Nosn','<p>before <span data-nosnippet>secretphrase alpha</span> after</p><p>beta</p>'),
'long':P('Long','<p>'+'x'*300+' needle</p>'),
'ru':P('Книги','<p>В библиотеке много книг и журналов.</p>','',' lang=ru'),
'th':P('ไทย','<p>ประเทศไทยมีเมืองหลวงคือกรุงเทพ</p>','',' lang=th'),
'hi':P('Hindi','<p>भारत की राजधानी दिल्ली है</p>','',' lang=hi'),
'ar':P('عربي','<p>الكتاب في المكتبة</p>','',' lang=ar'),
'pic':P('Img','<img src=x.png alt="walnut squirrel"><p>caption</p>'),
'notitle':'<!doctype html><html lang=en><body><h1>Heading only</h1><p>untitled mongoose</p></body></html>',
'redir':P('Moved','<p>old</p>','<meta http-equiv=refresh content="0;url=a.html">'),
'canon':P('Canon','<p>canonized mongoose</p>','<link rel=canonical href="/a.html">'),
'agent':P('Agent','<p>agentonly</p>','<meta name=comitybot content=noindex>'),
'gbot':P('G','<p>googleonly</p>','<meta name=googlebot content=noindex>'),
'nofol':P('NF','<p><a href="hiddenpage.html">x</a></p>','<meta name=robots content=nofollow>'),
}
for k,v in ps.items(): w(k+'.html',v)
w('index.html',P('Home',''.join(f'<a href="{k}.html">{k}</a> ' for k in ps)+'<a href="d.html">d</a>'))
w('plain.txt','x')
