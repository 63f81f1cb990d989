import { crc32, deflateRawSync } from 'node:zlib';

/** A PDF of pages with one line of text each. */
export function pdfOf(
  pages: readonly string[],
  { info = '', trailer = '' }: { info?: string; trailer?: string } = {},
): Buffer {
  const kids = pages.map((_, at) => `${4 + at * 2} 0 R`).join(' ');
  return pdfOfObjects(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
      '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
      ...pages.flatMap((text, at) => [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 300] /Contents ${5 + at * 2} 0 R ` +
          '/Resources << /Font << /F1 3 0 R >> >> >>',
        streamOf(Buffer.from(`BT /F1 12 Tf 20 200 Td (${text}) Tj ET`), ''),
      ]),
      ...(info === '' ? [] : [info]),
    ],
    info === '' ? trailer : `/Info ${4 + pages.length * 2} 0 R ${trailer}`,
  );
}

/** A stream of a PDF with its filters. */
export const streamOf = (bytes: Buffer, filter: string): string =>
  `<< /Length ${bytes.length} ${filter} >>\nstream\n${bytes.toString('latin1')}\nendstream`;

/** A PDF of numbered objects with the table of their places. */
export function pdfOfObjects(objects: readonly string[], trailer = ''): Buffer {
  let text = '%PDF-1.4\n';
  const places = objects.map((object, at) => {
    const place = text.length;
    text += `${at + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(place).padStart(10, '0')} 00000 n \n`;
  });
  const start = text.length;
  const size = objects.length + 1;
  text += `xref\n0 ${size}\n0000000000 65535 f \n${places.join('')}`;
  text += `trailer\n<< /Size ${size} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(text, 'latin1');
}

const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';

/** The parts of a Word document whose body is given as XML. */
export const docxParts = (body: string, core = ''): Record<string, string> => ({
  '[Content_Types].xml':
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">' +
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
    '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-' +
    'officedocument.wordprocessingml.document.main+xml"/></Types>',
  '_rels/.rels': `<Relationships xmlns="${RELATIONS}"><Relationship Id="r1" Type="${OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>`,
  'word/document.xml': `<w:document xmlns:w="${WORD}"><w:body>${body}</w:body></w:document>`,
  'docProps/core.xml': `<cp:coreProperties>${core}</cp:coreProperties>`,
});

/** A paragraph of a Word document, as a heading where a style is given. */
export const paragraph = (text: string, style = ''): string =>
  `<w:p>${style === '' ? '' : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`}` +
  `<w:r><w:t>${text}</w:t></w:r></w:p>`;

/** A ZIP archive with compressed parts; `claimed` is the size that it claims for each. */
export function zipOf(files: Readonly<Record<string, string | Buffer>>, claimed?: number): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(files)) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes);
    const head = Buffer.alloc(46);
    head.writeUInt32LE(0x02014b50, 0);
    head.writeUInt16LE(20, 4);
    head.writeUInt16LE(20, 6);
    head.writeUInt16LE(8, 10);
    head.writeUInt32LE(crc32(bytes), 16);
    head.writeUInt32LE(packed.length, 20);
    head.writeUInt32LE(claimed ?? bytes.length, 24);
    head.writeUInt16LE(name.length, 28);
    head.writeUInt32LE(at, 42);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), head.subarray(6, 32)]);
    parts.push(local, Buffer.from(name), packed);
    directory.push(head, Buffer.from(name));
    at += 30 + name.length + packed.length;
  }
  const listing = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(files).length, 8);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(listing.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...parts, listing, end]);
}
