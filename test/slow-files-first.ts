import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** The files that take longest, by the start of their paths; the first takes a minute. */
const SLOW = [
  'test/cli.test',
  'test/terminal/newcomer',
  'test/replay/',
  'test/generation/defects',
  'test/session/flow',
  'test/security/hostile-server',
  'test/wallet/budget',
  'test/generation/cli-run',
];

/**
 * Starts the files that take longest before all others. Without a former run to go by, vitest starts
 * large files first; the newcomer is a small one and ran alone at the end.
 */
export class SlowFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { root } = this.ctx.config;
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = SLOW.findIndex((start) => moduleId.startsWith(`${root}/${start}`));
      return at === -1 ? SLOW.length : at;
    };
    const usual = await BaseSequencer.prototype.sort.call(this, files);
    return usual.toSorted((a, b) => rank(a) - rank(b));
  }
}
