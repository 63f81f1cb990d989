import { describe, expect, test } from 'vitest';
import { zipOf } from './documents.fixture.ts';
import { openZip, packZip } from './open-zip.ts';

const FILES = { 'a.xml': 'x'.repeat(600), 'b.xml': 'y'.repeat(600), 'c.png': 'z'.repeat(9000) };
const isXml = (name: string): boolean => name.endsWith('.xml');

describe('a ZIP archive', () => {
  test('gives the wanted parts, compressed or not', () => {
    const parts = openZip(zipOf(FILES), isXml, 1200);
    expect([...parts].map(([name, bytes]) => [name, bytes.toString()])).toEqual(
      Object.entries(FILES).slice(0, 2),
    );
    expect(openZip(packZip(parts), isXml, 1200)).toEqual(parts);
  });

  test('is refused where its parts are larger together than the limit, whatever it claims', () => {
    for (const claimed of [undefined, 0, 10]) {
      expect(() => openZip(zipOf(FILES, claimed), isXml, 1199)).toThrow('more than 1,199 bytes');
    }
    expect(() => openZip(packZip(openZip(zipOf(FILES), isXml, 1200)), isXml, 1199)).toThrow();
  });

  test('that is cut is refused by name; with a changed byte it is refused by name or opened', () => {
    const whole = zipOf({ 'a.xml': 'bread and butter' });
    for (let at = 0; at < whole.length; at++) {
      expect(() => openZip(whole.subarray(0, at), isXml, 1200)).toThrow(/is a|is protected/);
      const changed = Buffer.from(whole);
      changed[at] = changed[at]! ^ 0xff;
      const outcome = (() => {
        try {
          return [...openZip(changed, isXml, 1200).keys()].length;
        } catch (thrown) {
          return (thrown as Error).constructor.name;
        }
      })();
      expect([0, 1, 'Unreadable']).toContain(outcome);
    }
  });
});
