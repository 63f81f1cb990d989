import { describe, expect, test } from 'vitest';
import { DEFAULT_JOB_SETTINGS, readJobSettings } from './settings.ts';

describe('readJobSettings', () => {
  test('takes what the file says and the defaults for the rest', () => {
    expect(readJobSettings(undefined)).toEqual(DEFAULT_JOB_SETTINGS);
    expect(readJobSettings({ providers: {}, jobs: { maxAttempts: 8 } })).toEqual({
      ...DEFAULT_JOB_SETTINGS,
      maxAttempts: 8,
    });
  });

  test.each([{ maxAttempts: 0 }, { firstRetryMs: -1 }, { maxTakeovers: 1.5 }, { attempts: 3 }])(
    'refuses %j and names the field',
    (jobs) => {
      expect(() => readJobSettings({ jobs })).toThrow(Object.keys(jobs)[0]);
    },
  );
});
