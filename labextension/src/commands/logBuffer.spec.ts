import { appended, EMPTY_LOG, KEPT_LINES } from './logBuffer';

describe('appended', () => {
  it('keeps a short log whole', () => {
    const log = appended(appended(EMPTY_LOG, 'first\nsec'), 'ond\n');
    expect(log).toEqual({ text: 'first\nsecond\n', isCut: false });
  });

  it('keeps the last lines of a long one, and says so', () => {
    let log = EMPTY_LOG;
    for (let line = 1; line <= 10_000; line++) {
      log = appended(log, `line ${line}\n`);
    }
    const lines = log.text.trimEnd().split('\n');
    expect(log.isCut).toBe(true);
    expect(lines).toHaveLength(KEPT_LINES);
    expect([lines[0], lines.at(-1)]).toEqual(['line 8001', 'line 10000']);
  });

  it('keeps no more of an endless line either', () => {
    const log = appended(EMPTY_LOG, 'x'.repeat(3_000_000));
    expect(log.text.length).toBeLessThanOrEqual(400_000);
    expect(log.isCut).toBe(true);
  });

  it('stays as flat however much comes', () => {
    let log = EMPTY_LOG;
    const part = `${'y'.repeat(99)}\n`.repeat(1_000);
    for (let number = 0; number < 200; number++) {
      log = appended(log, part);
      expect(log.text.length).toBeLessThanOrEqual(400_000);
    }
  });
});
