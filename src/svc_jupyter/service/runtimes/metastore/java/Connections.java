package svc.jupyter.hive;

import java.util.concurrent.atomic.AtomicInteger;
import org.apache.hadoop.hive.metastore.IHMSHandler;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.server.ServerContext;
import org.apache.thrift.server.TServerEventHandler;
import org.apache.thrift.transport.TTransport;

/** Counts the connected clients, and releases the database resources of a closed connection's thread. */
final class Connections implements TServerEventHandler {
    private final AtomicInteger open = new AtomicInteger();
    private final IHMSHandler handler;

    Connections(IHMSHandler handler) {
        this.handler = handler;
    }

    int open() {
        return open.get();
    }

    @Override
    public void preServe() {}

    @Override
    public ServerContext createContext(TProtocol input, TProtocol output) {
        open.incrementAndGet();
        return null;
    }

    @Override
    public void deleteContext(ServerContext context, TProtocol input, TProtocol output) {
        open.decrementAndGet();
        try {
            handler.shutdown();
        } catch (TException failure) {
            throw new IllegalStateException(failure);
        }
    }

    @Override
    public void processContext(ServerContext context, TTransport input, TTransport output) {}
}
