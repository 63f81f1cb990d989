import { afterAll } from 'vitest';
import { cleanUpAfterTheFile } from './stores.ts';

// Test files of one process share their modules, but not what they opened.
afterAll(cleanUpAfterTheFile);
