import type { EngineModule } from './engine.ts';
import { openBoss } from './pg-boss.ts';

/** pg-boss as someone who measures would have it: every worker resolves flows every 50 ms. */
const open: EngineModule['open'] = (url, isFirst) => openBoss(url, isFirst, 50);

export default { open } satisfies EngineModule;
