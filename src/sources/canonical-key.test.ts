import { describe, expect, test } from 'vitest';
import { canonicalKey, canonicalUrl } from './canonical-key.ts';

const SAME: readonly (readonly string[])[] = [
  [
    'https://example.org/a',
    'http://example.org/a',
    'https://www.example.org/a/',
    'https://EXAMPLE.org:443/a',
    'https://example.org/a#part',
    'https://example.org/a?utm_source=x&utm_medium=y&fbclid=1',
    'https://user:pw@example.org/./b/../a',
    'https://example.org./%61',
  ],
  ['https://example.org/?b=2&a=1', 'https://example.org?a=1&b=2&gclid=9'],
  ['https://doi.org/10.1000/XYZ', 'http://dx.doi.org/10.1000/xyz'],
  [
    'https://arxiv.org/abs/2604.03173',
    'http://arxiv.org/pdf/2604.03173v2.pdf',
    'arXiv:2604.03173v1',
    'https://doi.org/10.48550/arXiv.2604.03173',
  ],
  ['https://example.org/%7euser/%c3%a4', 'https://example.org/~user/ä'],
];

const DIFFERENT: readonly (readonly [string, string])[] = [
  ['https://example.org/Watch', 'https://example.org/watch'],
  ['https://example.org/?v=aB', 'https://example.org/?v=Ab'],
  ['https://example.org:8080/', 'https://example.org/'],
  ['https://example.org/a/b', 'https://example.org/a%2Fb'],
  ['https://a.example.org/', 'https://example.org/'],
  ['https://arxiv.org/abs/2604.03173', 'https://arxiv.org/abs/2604.03174'],
];

describe('the key of a source', () => {
  test.each(SAME)('is the same for all addresses of %s', (...urls) => {
    expect(new Set(urls.map(canonicalUrl)).size).toBe(1);
    expect(canonicalUrl(urls[0] ?? '')).toBeDefined();
  });

  test.each(DIFFERENT)('differs between %s and %s', (one, other) => {
    expect(canonicalUrl(one)).not.toBe(canonicalUrl(other));
  });

  test('is the work where it is known', () => {
    const draft = { title: 'T', excerpts: [] };
    expect(canonicalKey({ ...draft, doi: 'doi:10.1000/ABC.' })).toBe('doi:10.1000/abc');
    expect(canonicalKey({ ...draft, isbn: '0-306-40615-2' })).toBe('isbn:9780306406157');
    expect(canonicalKey({ ...draft, isbn: '978-0-306-40615-7' })).toBe('isbn:9780306406157');
    // A wrong last digit is no ISBN.
    expect(canonicalKey({ ...draft, isbn: '978-0-306-40615-8' })).toMatch(/^text:/);
  });

  test('is the text where there is no address of the web', () => {
    const one = canonicalKey({ title: 'T', excerpts: ['a  b\nc'] });
    expect(one).toBe(canonicalKey({ title: 'T', url: 'file:///x', excerpts: ['a b c'] }));
    expect(one).not.toBe(canonicalKey({ title: 'T', excerpts: ['a b d'] }));
  });
});
