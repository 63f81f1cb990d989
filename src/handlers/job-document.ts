import type { JobDocument } from '../jobs/types.ts';
import type { PlannedJob } from '../planning/types.ts';

/** The document of a planned job, as the columns of its row have it. */
export const jobDocument = (planned: PlannedJob): JobDocument => ({
  key: planned.documentKey,
  identity: planned.identity,
  sourceGroup: planned.sourceGroup,
  respondingLaneId: planned.respondingLaneId,
});
