import { asLine, asYear } from './describe-markdown.ts';
import { type Extracted, Unreadable } from './extracted.ts';

const MOST_PAGES = 3_000;

/** The text of a PDF, its pages as paragraphs, with the title, author and year of its properties. */
export async function readPdf(bytes: Uint8Array): Promise<Extracted> {
  const { getDocumentProxy } = await import('unpdf');
  // pdf.js takes the buffer over, and the archive needs it.
  const options = { verbosity: 0, maxImageSize: 0, isEvalSupported: false };
  const pdf = await getDocumentProxy(Uint8Array.from(bytes), options).catch(explain);
  try {
    if (pdf.numPages > MOST_PAGES) {
      throw new Unreadable(`has ${pdf.numPages} pages; ${MOST_PAGES} may be`);
    }
    const pages: string[] = [];
    for (let number = 1; number <= pdf.numPages; number++) {
      const page = await pdf.getPage(number);
      const { items } = await page.getTextContent();
      const parts = items.map((item) =>
        'str' in item ? item.str + (item.hasEOL ? '\n' : '') : '',
      );
      pages.push(parts.join('').trim());
      page.cleanup();
    }
    const text = pages.filter((page) => page !== '').join('\n\n');
    if (text === '') {
      throw new Unreadable('holds no text, only pictures of pages; recognise them with: ocrmypdf');
    }
    const info = (await pdf.getMetadata()).info as Readonly<Record<string, unknown>>;
    return { text: `${text}\n`, about: describe(info) };
  } finally {
    await pdf.loadingTask.destroy();
  }
}

function describe(info: Readonly<Record<string, unknown>>): Extracted['about'] {
  const title = asLine(asLine(info.Title)?.replace(/^Microsoft Word - /, ''));
  const author = asLine(info.Author);
  // D:20240131120000+01'00'
  const year = asYear(asLine(info.CreationDate)?.slice(0, 6));
  return {
    ...(title !== undefined && { title }),
    ...(author !== undefined && { author }),
    ...(year !== undefined && { year }),
  };
}

function explain(thrown: unknown): never {
  const name = thrown instanceof Error ? thrown.name : '';
  if (name === 'PasswordException') {
    throw new Unreadable(
      'is protected with a password; take it off with: qpdf --decrypt --password=… in.pdf out.pdf',
    );
  }
  throw new Unreadable('is a broken PDF; open it and save it anew', { cause: thrown });
}
