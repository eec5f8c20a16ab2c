import { nullTranslator } from '@jupyterlab/translation';
import { type CommandFollower, ServiceError } from '../service';
import type { ClusterCalls } from './calls';
import { cluster, NOW, worker } from './look.fixture';
import { ClusterModel } from './model';

const trans = nullTranslator.load('svc_jupyter');

function calls(answers: object): ClusterCalls {
  return answers as ClusterCalls;
}

function follower(): CommandFollower {
  const changed = { connect: jest.fn() };
  return { changed, dispose: jest.fn(), command: null, error: null } as unknown as CommandFollower;
}

describe('ClusterModel', () => {
  const look = jest.fn();
  let model: ClusterModel;

  beforeEach(() => {
    look
      .mockReset()
      .mockResolvedValue(cluster('UP', worker('ip-1'), worker('ip-2'), worker('ip-3')));
  });

  afterEach(() => {
    model.dispose();
  });

  async function shown(more: object = {}): Promise<ClusterModel> {
    model = new ClusterModel(1, calls({ look, ...more }), follower, trans, () => NOW.getTime());
    model.show(true);
    await model.refresh();
    return model;
  }

  it('asks nothing while nobody sees it', async () => {
    model = new ClusterModel(1, calls({ look }), follower, trans);
    await model.refresh();
    expect(look).not.toHaveBeenCalled();
  });

  it('lets a size that nobody has asked for follow the cluster', async () => {
    await shown();
    expect(model.target).toBe(3);
    expect(model.steps.has('resize')).toBe(false);
    look.mockResolvedValue(cluster('UP', worker('ip-1'), worker('ip-2')));
    await model.refresh();
    expect(model.target).toBe(2);
    model.aim(4);
    look.mockResolvedValue(cluster('UP', worker('ip-1')));
    await model.refresh();
    expect(model.target).toBe(4);
    expect(model.steps.has('resize')).toBe(true);
  });

  it('can do nothing while it does not know how the cluster is', async () => {
    await shown();
    look.mockRejectedValue(new ServiceError('the service is away', 503));
    await model.refresh();
    expect(model.doubt).toBe('the service is away');
    expect([...model.steps]).toEqual([]);
    look.mockResolvedValue(cluster('UP', worker('ip-1'), worker('ip-2'), worker('ip-3')));
    await model.refresh();
    expect(model.doubt).toBeNull();
    expect(model.steps.has('terminate')).toBe(true);
  });

  it('follows the command that adds workers, and looks more often meanwhile', async () => {
    const waiting = { id: 131, status: 'waiting', start_time: null, end_time: null };
    const addNodes = jest.fn().mockResolvedValue(waiting);
    await shown({ addNodes });
    model.aim(4);
    const question = model.question('resize');
    expect(question).not.toBeNull();
    if (question) {
      await model.perform(question);
    }
    expect(addNodes).toHaveBeenCalledWith(1, 1);
    expect(model.commands.running).toEqual([131]);
    expect(model.commands.lines()[0]?.text).toBe('command 131 · adding 1 node · waiting · 0 s');
    expect(model.period).toBe(1000);
  });

  it('follows the removals that were begun when a later one is refused', async () => {
    const removeNode = jest
      .fn()
      .mockResolvedValueOnce({ id: 7, status: 'running' })
      .mockRejectedValueOnce(new ServiceError('its minimum of 2 is reached', 409));
    await shown({ removeNode });
    const question = model.question('terminate');
    if (question) {
      await model.perform({ ...question, step: 'resize', target: 1 });
    }
    expect(model.commands.running).toEqual([7]);
    expect(model.note).toBe('1 of 2 removals were begun: its minimum of 2 is reached');
    expect(model.problem).toBeNull();
  });

  it("tells the service's words on what it refused", async () => {
    await shown({
      terminate: jest.fn().mockRejectedValue(new ServiceError('you may not terminate it', 403))
    });
    const question = model.question('terminate');
    if (question) {
      await model.perform(question);
    }
    expect(model.problem).toBe('you may not terminate it');
    expect(model.isWorking).toBe(false);
  });
});
