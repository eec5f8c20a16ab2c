import { LastChange } from './plugin';

describe('LastChange', () => {
  it('takes a change for unsaved until Lab must have stored it', () => {
    let now = 0;
    const last = new LastChange(() => now);
    expect(last.isUnsaved).toBe(false);
    last.note();
    expect(last.isUnsaved).toBe(true);
    now = 4_999;
    expect(last.isUnsaved).toBe(true);
    now = 5_000;
    expect(last.isUnsaved).toBe(false);
    last.note();
    expect(last.isUnsaved).toBe(true);
  });
});
