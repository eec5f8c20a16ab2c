package svc.jupyter.hive;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import org.apache.hadoop.hive.conf.HiveConf;
import org.apache.hadoop.hive.metastore.HiveMetaStore;
import org.apache.hadoop.hive.metastore.IHMSHandler;
import org.apache.hadoop.hive.metastore.TSetIpAddressProcessor;
import org.apache.thrift.server.TThreadPoolServer;
import org.apache.thrift.transport.TServerSocket;
import org.apache.thrift.transport.TTransportException;

/**
 * The Hive metastore as one process of a service.
 *
 * <p>Hive's own main class listens on every address of the machine, without a setting for it; this one listens on a
 * single address. It also reports its heap, and can end when the last client disconnects.
 *
 * <p>Arguments: the address; the preferred port (0 for any); the folder of this start, where it writes `port` when it can
 * answer and looks for `retire`; a file with the database's password, which is removed after it is read. Without the file
 * there is no password.
 */
public final class Metastore {
    private static final int MIN_THREADS = 2;
    private static final int MAX_THREADS = 200;

    private Metastore() {}

    /** Serves until the process is ended. */
    public static void main(String[] args) throws Exception {
        InetAddress address = InetAddress.getByName(args[0]);
        int wanted = Integer.parseInt(args[1]);
        Path folder = Path.of(args[2]);
        HiveConf conf = new HiveConf(Metastore.class);
        readSecret(conf, Path.of(args[3]));

        Handler handler = new Handler(conf);
        IHMSHandler retrying = HiveMetaStore.newRetryingHMSHandler(handler, conf, false);
        Warmth.warm(retrying);

        TServerSocket socket = listen(address, wanted);
        Connections connections = new Connections(retrying);
        TThreadPoolServer server =
            new TThreadPoolServer(
                new TThreadPoolServer.Args(socket)
                    .processor(new TSetIpAddressProcessor<IHMSHandler>(retrying))
                    .minWorkerThreads(MIN_THREADS)
                    .maxWorkerThreads(MAX_THREADS));
        server.setServerEventHandler(connections);
        Ending.begin(folder.resolve("retire"), connections, conf);
        tell(folder, socket.getServerSocket().getLocalPort());
        server.serve();
    }

    private static void readSecret(HiveConf conf, Path file) throws IOException {
        if (Files.exists(file)) {
            String password = Files.readString(file, StandardCharsets.UTF_8);
            Files.delete(file);
            conf.setVar(HiveConf.ConfVars.METASTOREPWD, password);
        }
    }

    /** Listens on the preferred port, so that clients find it again, or on another one if that is taken. */
    private static TServerSocket listen(InetAddress address, int wanted) throws TTransportException {
        try {
            return new TServerSocket(new InetSocketAddress(address, wanted));
        } catch (TTransportException taken) {
            return new TServerSocket(new InetSocketAddress(address, 0));
        }
    }

    private static void tell(Path folder, int port) throws IOException {
        Path draft = folder.resolve("port.draft");
        Files.writeString(draft, port + "\n", StandardCharsets.US_ASCII);
        Files.move(draft, folder.resolve("port"), StandardCopyOption.ATOMIC_MOVE);
    }
}
