package svc.jupyter.pig;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * This process's claim on a command: {@code pid} in the attempt's folder while it runs, {@code rc} after its end.
 *
 * <p>A process with a claim continues without the service, which finds it again by these files.
 */
final class Claim {
    private static final int START_TICKS = 19;

    private final Path folder;

    private Claim(Path folder) {
        this.folder = folder;
    }

    /** Claim the folder; fails if another process has it, so that a script that is submitted twice runs once. */
    static Claim take(Path folder) throws IOException {
        byte[] identity = (identity() + "\n").getBytes(StandardCharsets.US_ASCII);
        Files.write(folder.resolve("pid"), identity, StandardOpenOption.CREATE_NEW);
        return new Claim(folder);
    }

    void end(int code) throws IOException {
        Whole.replace(folder.resolve("rc"), code + "\n");
    }

    /** Its number and, where the system has them, the boot id and start ticks that identify it. */
    private static String identity() {
        long number = ProcessHandle.current().pid();
        try {
            String boot = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).trim();
            return number + " " + boot + " " + statFields()[START_TICKS];
        } catch (IOException untold) {
            return Long.toString(number);
        }
    }

    private static String[] statFields() throws IOException {
        String stat = Files.readString(Path.of("/proc/self/stat"));
        return stat.substring(stat.lastIndexOf(')') + 1).trim().split(" ");
    }
}
