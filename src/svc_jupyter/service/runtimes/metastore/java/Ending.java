package svc.jupyter.hive;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.sql.SQLException;
import org.apache.hadoop.hive.conf.HiveConf;

/** Ends the process when a file requests it and no client is connected. Derby is closed properly at any end. */
final class Ending implements Runnable {
    private static final long LOOK_EVERY_MILLISECONDS = 100;
    private static final String DERBY = "jdbc:derby:";

    private final Path request;
    private final Connections connections;

    private Ending(Path request, Connections connections) {
        this.request = request;
        this.connections = connections;
    }

    static void begin(Path request, Connections connections, HiveConf conf) {
        Thread thread = new Thread(new Ending(request, connections), "ending");
        thread.setDaemon(true);
        thread.start();
        if (conf.getVar(HiveConf.ConfVars.METASTORECONNECTURLKEY).startsWith(DERBY)) {
            Runtime.getRuntime().addShutdownHook(new Thread(Ending::closeDerby));
        }
    }

    @Override
    public void run() {
        try {
            while (!(Files.exists(request) && connections.open() == 0)) {
                Thread.sleep(LOOK_EVERY_MILLISECONDS);
            }
        } catch (InterruptedException interruption) {
            Thread.currentThread().interrupt();
        }
        System.exit(0);
    }

    private static void closeDerby() {
        try {
            DriverManager.getConnection(DERBY + ";shutdown=true").close();
        } catch (SQLException closed) {
            // Derby reports in this way that it has been closed.
        }
    }
}
