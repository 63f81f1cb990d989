import { describe, expect, test } from 'vitest';
import { renderLiquid } from './liquid.ts';
import { freezeDeep } from './memo.ts';

/** A list that tells how often it was read. */
function countReads(items: readonly string[]) {
  const reads = { count: 0 };
  const list = new Proxy([...items], {
    get(target, name, receiver) {
      if (name === '0') reads.count += 1;
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
  return { list, reads };
}

const texts = {
  'main.md': `{% render 'list.md', items: items, mark: mark %}!`,
  'list.md': '{% for one in items %}{{ mark }}{{ one }}{% endfor %}',
};

describe('a text that a prompt includes', () => {
  test('is rendered once for arguments that cannot change', () => {
    const { list, reads } = countReads(['a', 'b']);
    const items = freezeDeep(list);
    expect(renderLiquid(texts, 'main.md', { items, mark: '-' })).toBe('-a-b!');
    const before = reads.count;
    expect(renderLiquid(texts, 'main.md', { items, mark: '-' })).toBe('-a-b!');
    expect(reads.count).toBe(before);
  });

  test('is rendered again for other arguments, of which each may differ', () => {
    const partials = { ...texts };
    const items = freezeDeep(['a']);
    const render = (scope: object): string => renderLiquid(partials, 'main.md', scope);
    expect(render({ items, mark: '-' })).toBe('-a!');
    expect(render({ items, mark: '+' })).toBe('+a!');
    expect(render({ items: freezeDeep(['b']), mark: '+' })).toBe('+b!');
    expect(render({ items, mark: '-' })).toBe('-a!');
  });

  test('is rendered again where an argument may have changed', () => {
    const partials = { ...texts };
    const items = ['a'];
    expect(renderLiquid(partials, 'main.md', { items, mark: '-' })).toBe('-a!');
    items.push('b');
    expect(renderLiquid(partials, 'main.md', { items, mark: '-' })).toBe('-a-b!');
  });

  test('is rendered again where it takes one item of a list after the other', () => {
    const partials = {
      'main.md': `{% render 'one.md' for items as one %}`,
      'one.md': '{{ one }};',
    };
    expect(renderLiquid(partials, 'main.md', { items: freezeDeep(['a', 'b']) })).toBe('a;b;');
    expect(renderLiquid(partials, 'main.md', { items: freezeDeep(['c']) })).toBe('c;');
  });

  test('is rendered again where it prints something else another time', () => {
    const partials = {
      'main.md': `{% render 'one.md', items: items %}`,
      'one.md': '{{ items | sample }}',
    };
    const items = freezeDeep(Array.from({ length: 1_000 }, (_, at) => `item ${at}`));
    const printed = Array.from({ length: 20 }, () => renderLiquid(partials, 'main.md', { items }));
    expect(new Set(printed).size).toBeGreaterThan(1);
  });
});
