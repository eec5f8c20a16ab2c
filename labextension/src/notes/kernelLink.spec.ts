import type { ISessionContext } from '@jupyterlab/apputils';
import { Signal } from '@lumino/signaling';
import { type IFromKernel, KernelLink } from './kernelLink';

/** A kernel that records what comms carry to it. */
class Kernel {
  handleComms = true;
  status = 'idle';
  comms = 0;
  readonly heard: unknown[] = [];
  readonly anyMessage = new Signal<this, unknown>(this);
  constructor(readonly name = 'svc-spark') {}

  createComm(): object {
    this.comms += 1;
    const hear = (data: unknown): void => void this.heard.push(data);
    const comm = {
      isDisposed: false,
      open: hear,
      send: hear,
      dispose: () => (comm.isDisposed = true)
    };
    return comm;
  }

  reply(metadata: object, type = 'execute_reply'): void {
    const parent_header = { date: new Date(7).toISOString() };
    const msg = { header: { msg_type: type }, parent_header, metadata };
    this.anyMessage.emit({ msg, direction: 'recv' });
  }
}

function linked(kernel: Kernel | null = new Kernel()) {
  const session = {
    session: { kernel },
    kernelPreference: { name: 'svc-spark' }
  } as unknown as ISessionContext;
  const kernelChanged = new Signal<ISessionContext, void>(session);
  const statusChanged = new Signal<ISessionContext, string>(session);
  Object.assign(session, { kernelChanged, statusChanged });
  const link = new KernelLink(session);
  const told: IFromKernel[] = [];
  link.told.connect((_, said) => told.push(said));
  return { link, told, become: (status: string) => statusChanged.emit(status) };
}

describe('KernelLink', () => {
  it('opens one comm and says everything on it', () => {
    const kernel = new Kernel();
    const { link } = linked(kernel);
    expect(link.say({ forms: { factor: '7' } })).toBe(true);
    expect(link.say({ cluster: 'spark' })).toBe(true);
    expect(kernel.heard).toEqual([{ forms: { factor: '7' } }, { cluster: 'spark' }]);
    expect(kernel.comms).toBe(1);
  });

  it.each(['starting', 'restarting', 'autorestarting'])(
    'begins again with a kernel that is %s',
    status => {
      const kernel = new Kernel();
      const { link, become } = linked(kernel);
      let renewed = 0;
      link.renewed.connect(() => (renewed += 1));
      link.say({ cluster: 'spark' });
      become('busy');
      expect(renewed).toBe(0);
      become(status);
      expect(renewed).toBe(1);
      link.say({ cluster: 'spark' });
      expect(kernel.comms).toBe(2);
    }
  );

  it('says nothing to another kernel, to a dead one and to none', () => {
    const dead = new Kernel();
    dead.status = 'dead';
    const without = new Kernel();
    without.handleComms = false;
    const kernels = [new Kernel('python3'), dead, without, null];
    expect(kernels.map(kernel => linked(kernel).link.say({ cluster: 'spark' }))).toEqual(
      kernels.map(() => false)
    );
  });

  it('tells what the replies to cells say, and when the cells were sent', () => {
    const kernel = new Kernel();
    const { told } = linked(kernel);
    kernel.reply({ svc_jupyter: { cluster: 'spark' } });
    kernel.reply({});
    kernel.reply({ svc_jupyter: { cluster: 'other' } }, 'complete_reply');
    expect(told).toEqual([{ cluster: 'spark', sent: 7 }]);
  });

  it('takes a notebook whose kernel has not started by what it asks for', () => {
    expect(linked(null).link.isSpark).toBe(true);
    expect(linked(new Kernel('python3')).link.isSpark).toBe(false);
  });
});
