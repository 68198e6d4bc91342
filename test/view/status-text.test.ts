import { expect, test } from 'vitest';
import { describeStatus } from '../../src/view/status-text.js';

test('moments to come are told by how far away they are', () => {
  const now = Date.parse('2026-01-01T00:00:00.000Z');
  expect(describeStatus('busy; retrying at 2026-01-01T00:00:38.200Z (attempt 1 of 8 failed)', now)).toBe(
    'busy; retrying in 38 s (attempt 1 of 8 failed)',
  );
  expect(describeStatus('busy; retrying at 2026-01-01T00:00:00.000Z', now)).toBe('busy; retrying in a moment');
  expect(describeStatus('the disk is full', now)).toBe('the disk is full');
});
