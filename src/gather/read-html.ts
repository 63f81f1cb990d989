import { asLine, asYear, type Description } from './describe-markdown.ts';
import type { Extracted } from './extracted.ts';
import { type PageNode, textOfNodes } from './text-of-nodes.ts';

/** An article with less text than this share of its page is not what the page is about. */
const LEAST_SHARE = 0.1;
/**
 * Readability takes time in the cube of the depth (10 s for 1,000 elements within each other); a page
 * that is deeper or larger is taken whole. Pages that people write are seldom deeper than 40.
 */
const [MOST_DEPTH, MOST_ELEMENTS] = [100, 30_000];

/**
 * The readable text of a page: its article where Readability finds one, else all of its body. Nothing of
 * the page is run, and nothing that it names is fetched. A DOI that a page gives for itself is not
 * believed: it would merge the page into the source of that work.
 */
export async function readHtml(bytes: Uint8Array, charset?: string): Promise<Extracted> {
  const html = decodeHtml(bytes, charset);
  const whole = await parsePage(html);
  const all = textOfNodes(whole.body);
  const article = isManageable(whole.body) ? await findArticle(html) : null;
  const found = article?.content ? textOfNodes(article.content) : '';
  const meta = metaOf(whole);
  const about = describe({
    title: article?.title || whole.title,
    author: article?.byline || meta('author') || meta('citation_author'),
    publisher: article?.siteName || meta('og:site_name') || meta('citation_publisher'),
    year: asYear(article?.publishedTime || meta('citation_publication_date') || meta('dc.date')),
  });
  return { text: found.length >= all.length * LEAST_SHARE ? found : all, about };
}

async function findArticle(html: string) {
  const { Readability } = await import('@mozilla/readability');
  // Readability changes the page that it is given; its types want those of browsers.
  const page = (await parsePage(html)) as never;
  return new Readability<PageNode>(page, {
    serializer: (node) => node,
  }).parse();
}

/** The text of a fragment that a program made, such as mammoth. */
export const textOfHtml = async (html: string): Promise<string> =>
  textOfNodes((await parsePage(html)).body);

/** Whether a page is shallow and small enough for Readability. */
function isManageable(root: PageNode): boolean {
  let elements = 0;
  let level: PageNode[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    elements += level.length;
    if (depth > MOST_DEPTH || elements > MOST_ELEMENTS) return false;
    level = level.flatMap((node) => [...node.childNodes]);
  }
  return true;
}

type Page = {
  readonly title: string;
  readonly body: PageNode;
  querySelectorAll(selector: string): Iterable<{ getAttribute(name: string): string | null }>;
};

/** A page with a body, be it a fragment: linkedom adds none, and then finds no text. */
async function parsePage(html: string): Promise<Page> {
  const { parseHTML } = await import('linkedom');
  const inBody = /<body[\s>]/i.test(html) ? html : `<body>${html}</body>`;
  const whole = /<html[\s>]/i.test(inBody) && inBody === html ? html : `<html>${inBody}</html>`;
  return parseHTML(whole).document;
}

function metaOf(page: Page): (name: string) => string | undefined {
  const values = new Map<string, string>();
  for (const element of page.querySelectorAll('meta')) {
    const name = (
      element.getAttribute('name') ??
      element.getAttribute('property') ??
      ''
    ).toLowerCase();
    const content = element.getAttribute('content');
    if (name !== '' && content !== null && !values.has(name)) values.set(name, content);
  }
  return (name) => values.get(name);
}

const describe = (said: {
  readonly title: unknown;
  readonly author: unknown;
  readonly publisher: unknown;
  readonly year: number | undefined;
}): Description => {
  const [title, author, publisher] = [said.title, said.author, said.publisher].map(asLine);
  return {
    ...(title !== undefined && { title }),
    ...(author !== undefined && { author }),
    ...(publisher !== undefined && { publisher }),
    ...(said.year !== undefined && { year: said.year }),
  };
};

/** As browsers do: the mark, the server's word, the page's word, UTF-8, and else Windows-1252. */
function decodeHtml(bytes: Uint8Array, charset: string | undefined): string {
  const head = Buffer.from(bytes.subarray(0, 1024)).toString('latin1');
  const said = charset ?? /<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]{1,40})/i.exec(head)?.[1];
  const marked = /^(?:\xff\xfe|\xfe\xff|\xef\xbb\xbf)/.exec(head)?.[0];
  const bom = { '\xff\xfe': 'utf-16le', '\xfe\xff': 'utf-16be', '\xef\xbb\xbf': 'utf-8' };
  const decoder = decoderOf(marked ? bom[marked as keyof typeof bom] : said);
  if (decoder !== undefined) return decoder.decode(bytes);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return new TextDecoder('windows-1252').decode(bytes);
  }
}

function decoderOf(label: string | undefined): InstanceType<typeof TextDecoder> | undefined {
  try {
    return label === undefined ? undefined : new TextDecoder(label);
  } catch {
    // An encoding that nobody knows is guessed like one that nobody named.
    return undefined;
  }
}
