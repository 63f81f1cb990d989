import { test } from 'vitest';
import { auditAdversarial } from './adversarial.ts';

test('the audit is linear on megabytes of what scanners fear', () => {
  auditAdversarial(1_000_000);
});
