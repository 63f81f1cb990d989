import { afterAll, describe, expect, test } from 'vitest';
import { docxParts, paragraph, pdfOf, zipOf } from './documents.fixture.ts';
import { draftOf } from './extract-text.ts';
import { Extractor } from './extractor.ts';
import { mediaTypeOf } from './media-type.ts';

const extractor = new Extractor();
afterAll(() => extractor.close());

const read = (content: Buffer | string, place: string, one = extractor) => {
  const bytes = Buffer.from(content);
  return draftOf({ place, bytes, mediaType: mediaTypeOf(bytes, place) }, one);
};
const refusal = (content: Buffer | string, place: string, one?: Extractor) =>
  read(content, place, one).then(
    () => expect.fail(`${place} was read`),
    (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
  );

const PAGE = `<!doctype html><html><head><title>Bread in numbers | The Baker</title>
<meta name="author" content="Ada Crumb"><meta property="og:site_name" content="The Baker">
<meta property="article:published_time" content="2021-05-06T08:00:00Z">
<script>document.title = 'no'</script></head><body>
<nav><a href="/">Home</a><a href="/shop">Shop</a></nav>
<article><h1>Bread in numbers</h1>
<p>${'The bakery sells 1,200 loaves a week, and more on Sundays. '.repeat(8)}</p>
<h2>Prices</h2><ul><li>Rye: <b>3.50</b> euros</li><li>Wheat: 2.90 euros</li></ul>
<table><tr><th>Day</th><th>Loaves</th></tr><tr><td>Monday</td><td>150</td></tr></table>
<pre>  kept   as
  it is</pre>
<p>${'Nobody buys bread after noon, says its owner. '.repeat(8)}</p></article>
<footer>Cookie banner</footer></body></html>`;

describe('HTML', () => {
  test('gives its article as text with headings, lists, rows and what it says of itself', async () => {
    const draft = await read(PAGE, 'page.html');
    expect(draft).toMatchObject({
      title: expect.stringContaining('Bread in numbers'),
      author: 'Ada Crumb',
      publisher: 'The Baker',
      year: 2021,
    });
    const [text = ''] = draft.excerpts;
    expect(text).toContain('The bakery sells 1,200 loaves a week, and more on Sundays. The');
    expect(text).toContain('\n\n## Prices\n\n- Rye: 3.50 euros\n- Wheat: 2.90 euros\n\n');
    expect(text).toContain('Day | Loaves\nMonday | 150\n');
    expect(text).toContain('```\n  kept   as\n  it is\n```');
    expect(text).not.toMatch(/Cookie banner|Shop|document\.title/);
  });

  test('is read in the encoding of its server, its own or Windows-1252', async () => {
    const latin = Buffer.from('<html><body><p>Caf\xe9 cr\xe8me</p></body></html>', 'latin1');
    expect((await read(latin, 'a.html')).excerpts[0]).toBe('Café crème\n');
    const bytes = Buffer.from('<html><body><p>\xe0\xe1</p></body></html>', 'latin1');
    const content = { place: 'b.html', bytes, mediaType: 'text/html', charset: 'iso-8859-7' };
    expect((await draftOf(content, extractor)).excerpts[0]).toBe('ΰα\n');
  });

  test('that nests deeper than calls can is read or refused, and the next is read', async () => {
    const deep = `<html><body>${'<div>'.repeat(5_000)}deep</body></html>`;
    const outcome = await read(deep, 'deep.html').then(
      () => 'read',
      ({ code }: { code: string }) => code,
    );
    expect(['read', 'source_unreadable']).toContain(outcome);
    expect((await read('<p>next</p>', 'next.html')).excerpts[0]).toBe('next\n');
  });
});

describe('PDF', () => {
  test('gives the text of its pages, title, author and year', async () => {
    const info = "<< /Title (Rye) /Author (Bo Crust) /CreationDate (D:20190203040506+01'00') >>";
    const draft = await read(pdfOf(['One loaf.', 'Two loaves.'], { info }), 'paper.pdf');
    expect(draft).toEqual({
      title: 'Rye',
      author: 'Bo Crust',
      year: 2019,
      excerpts: ['One loaf.\n\nTwo loaves.\n'],
    });
  });

  test('that is broken, locked or without text is refused with what helps', async () => {
    const locked = pdfOf(['Secret.'], {
      trailer: `/ID [<00> <00>] /Encrypt << /Filter /Standard /V 1 /R 2 /Length 40 /P -4
/O <${'ab'.repeat(32)}> /U <${'cd'.repeat(32)}> >>`,
    });
    expect(await refusal(locked, 'locked.pdf')).toMatch(/source_unreadable: .*password.*qpdf/);
    expect(await refusal('%PDF-1.4\nnothing', 'cut.pdf')).toContain('is a broken PDF');
    expect(await refusal(pdfOf(['']), 'scan.pdf')).toContain('ocrmypdf');
  });
});

describe('DOCX', () => {
  test('gives its text with headings, title, author and year', async () => {
    const parts = docxParts(
      paragraph('Rye', 'Heading1') + paragraph('It is baked &amp; sold.') + paragraph('Twice.'),
      '<dc:title>Rye &amp; wheat</dc:title><dc:creator>Cy</dc:creator>' +
        '<dcterms:created xsi:type="dcterms:W3CDTF">2018-01-02T03:04:05Z</dcterms:created>',
    );
    expect(await read(zipOf(parts), 'paper.docx')).toEqual({
      title: 'Rye & wheat',
      author: 'Cy',
      year: 2018,
      excerpts: ['# Rye\n\nIt is baked & sold.\n\nTwice.\n'],
    });
  });

  test('that is broken, locked or another archive is refused with what helps', async () => {
    const whole = zipOf(docxParts(paragraph('x')));
    expect(await refusal(whole.subarray(0, 200), 'cut.docx')).toContain('is a broken ZIP archive');
    expect(await refusal(zipOf({ 'a.txt': 'x' }), 'some.zip')).toContain('no Word document');
    const office = Buffer.from('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'latin1');
    expect(await refusal(office, 'old.doc')).toContain('save it as DOCX without a password');
    const laughs = docxParts(paragraph('&lol;'));
    const declared = `<!DOCTYPE w [<!ENTITY lol "${'ha'.repeat(1000)}">]>`;
    const told = await refusal(
      zipOf({ ...laughs, 'word/document.xml': declared + laughs['word/document.xml'] }),
      'laughs.docx',
    ).catch(() => 'read without the entity');
    expect(told).not.toContain('haha');
  });
});

test('a file that takes too long is ended with its thread', async () => {
  const hasty = new Extractor({ extractMs: 1 });
  expect(await refusal(pdfOf(['Late.']), 'late.pdf', hasty)).toContain('takes more than 1 s');
  await hasty.close();
});
