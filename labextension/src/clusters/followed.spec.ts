import { nullTranslator } from '@jupyterlab/translation';
import { Signal } from '@lumino/signaling';
import type { CommandFollower } from '../service';
import type { ICommand } from '../service/records/commands';
import { FollowedCommands } from './followed';

const WAITING = { id: 131, status: 'waiting', start_time: null, end_time: null } as ICommand;
const ENDED: Partial<ICommand> = {
  status: 'done',
  start_time: 1_795_248_001,
  end_time: 1_795_248_005
};
const EXACT = { started_at: '2026-11-21T08:00:01.900Z', ended_at: '2026-11-21T08:00:05.100Z' };

describe('a followed command', () => {
  let clock = 0;
  const follower = { command: WAITING, error: null, dispose: jest.fn() };
  const changed = new Signal<typeof follower, void>(follower);
  const followed = (): FollowedCommands => {
    clock = 0;
    const follow = (): CommandFollower =>
      Object.assign(follower, { changed }) as unknown as CommandFollower;
    const all = new FollowedCommands(follow, nullTranslator.load(''), () => clock);
    all.add([WAITING], 'adding 1 node');
    all.show(true);
    return all;
  };
  const line = (all: FollowedCommands, change: Partial<ICommand>): string | undefined => {
    follower.command = { ...WAITING, ...change };
    changed.emit();
    return all.lines()[0]?.text;
  };

  it('has taken so long so far, and at the end what its service says', () => {
    const all = followed();
    clock = 2_900;
    expect(line(all, {})).toBe('command 131 · adding 1 node · waiting · 2 s');
    clock = 60_000;
    expect(line(all, { ...ENDED, ...EXACT })).toBe('command 131 · adding 1 node: done in 3.2 s');
    expect(line(all, ENDED)).toBe('command 131 · adding 1 node: done in 4 s');
    all.dispose();
  });

  it('was cancelled after the time that passed here when it never started', () => {
    const all = followed();
    clock = 7_000;
    expect(line(all, { status: 'cancelled' })).toBe(
      'command 131 · adding 1 node: cancelled after 7 s'
    );
    all.dispose();
  });
});
