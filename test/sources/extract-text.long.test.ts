import { deflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import {
  docxParts,
  paragraph,
  pdfOf,
  pdfOfObjects,
  streamOf,
  zipOf,
} from '../../src/gather/documents.fixture.ts';
import { draftOf } from '../../src/gather/extract-text.ts';
import { Extractor } from '../../src/gather/extractor.ts';
import { mediaTypeOf } from '../../src/gather/media-type.ts';

const read = (bytes: Buffer, place: string, extractor: Extractor) =>
  draftOf({ place, bytes, mediaType: mediaTypeOf(bytes, place) }, extractor);

test('a PDF that unpacks to too much is ended with its thread, and the next is read', async () => {
  const spaces = deflateSync(deflateSync(Buffer.alloc(1_000_000_000, ' '), { level: 1 }));
  const bomb = pdfOfObjects([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>',
    streamOf(spaces, '/Filter [/FlateDecode /FlateDecode]'),
  ]);
  expect(bomb.length).toBeLessThan(100_000);
  const extractor = new Extractor({ extractBytes: 300_000_000 });
  await expect(read(bomb, 'bomb.pdf', extractor)).rejects.toThrow(/memory to be read/);
  expect((await read(pdfOf(['Next.']), 'next.pdf', extractor)).excerpts[0]).toBe('Next.\n');
  await extractor.close();
}, 120_000);

test('a DOCX that unpacks to more than 50 MB is refused', async () => {
  const bomb = zipOf(docxParts(paragraph(' '.repeat(60_000_000))), 100);
  expect(bomb.length).toBeLessThan(100_000);
  const extractor = new Extractor();
  await expect(read(bomb, 'bomb.docx', extractor)).rejects.toThrow(
    'unpacks to more than 50,000,000 bytes',
  );
  await extractor.close();
}, 60_000);
