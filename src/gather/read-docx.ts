import { asLine, asYear } from './describe-markdown.ts';
import { type Extracted, Unreadable } from './extracted.ts';
import { openZip, packZip } from './open-zip.ts';
import { textOfHtml } from './read-html.ts';

/** So much may the texts in a document have when they are unpacked. */
const MOST_UNPACKED = 50_000_000;

/**
 * The text of a Word document with the marks of Markdown for headings and lists. mammoth gets a copy of
 * the archive that holds its texts alone, unpacked within the limit, since it would unpack whatever the
 * archive holds.
 */
export async function readDocx(bytes: Uint8Array): Promise<Extracted> {
  const parts = openZip(bytes, (name) => /\.(?:xml|rels)$/.test(name), MOST_UNPACKED);
  if (![...parts.keys()].some((name) => name.startsWith('word/'))) {
    throw new Unreadable('is a ZIP archive and no Word document; name the files in it instead');
  }
  const { default: mammoth } = await import('mammoth');
  const { value } = await mammoth
    .convertToHtml(
      { buffer: packZip(parts) },
      { convertImage: mammoth.images.imgElement(() => Promise.resolve({ src: '' })) },
    )
    .catch((cause: unknown) => {
      throw new Unreadable('is a broken Word document; open it and save it anew', { cause });
    });
  return { text: await textOfHtml(value), about: describe(parts.get('docProps/core.xml')) };
}

/** Title, author and year of the core properties, which are a flat list of elements. */
function describe(core: Buffer | undefined): Extracted['about'] {
  const xml = core?.toString('utf8', 0, 64_000) ?? '';
  const read = (name: string): string | undefined => {
    const start = xml.indexOf('>', xml.indexOf(`<${name}`));
    if (!xml.includes(`<${name}`) || start === -1 || xml[start - 1] === '/') return undefined;
    return asLine(unescapeXml(xml.slice(start + 1, xml.indexOf('<', start))));
  };
  const [title, author] = [read('dc:title'), read('dc:creator')];
  const year = asYear(read('dcterms:created'));
  return {
    ...(title !== undefined && { title }),
    ...(author !== undefined && { author }),
    ...(year !== undefined && { year }),
  };
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&apos;': "'",
  '&amp;': '&',
};

const unescapeXml = (text: string): string =>
  text.replace(/&(?:lt|gt|quot|apos|amp);/g, (entity) => ENTITIES[entity] ?? entity);
