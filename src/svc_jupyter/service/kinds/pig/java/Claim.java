package svc.jupyter.pig;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * The hold of this process on a command: {@code pid} in the attempt's folder while it runs, {@code rc} when it is over.
 *
 * <p>From then on the process is the command's: it goes on without the service, which finds it by these files.
 */
final class Claim {
    private static final String MARK = "SVC_COMMAND_MARK";
    private static final int ENVIRONMENT_START = 47;
    private static final int START_TICKS = 19;

    private final Path folder;

    private Claim(Path folder) {
        this.folder = folder;
    }

    /** Take the folder; fails when another process has it, so that a script runs once whoever asks for it twice. */
    static Claim take(Path folder) throws IOException {
        carryMark(folder);
        byte[] identity = (identity() + "\n").getBytes(StandardCharsets.US_ASCII);
        Files.write(folder.resolve("pid"), identity, StandardOpenOption.CREATE_NEW);
        return new Claim(folder);
    }

    void end(int code) throws IOException {
        Whole.replace(folder.resolve("rc"), code + "\n");
    }

    /** Its number, with what tells it from a later process that gets the same one where the system says that. */
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

    /**
     * Show the mark where others look for it: in the memory that /proc shows as this process's environment, in the room
     * that was kept for it there. Where the system does not let us, the process group tells what is the command's.
     */
    private static void carryMark(Path folder) {
        byte[] mark = (folder + "\0").getBytes(StandardCharsets.UTF_8);
        String room = System.getenv(MARK);
        if (room == null || mark.length > room.length()) {
            return;
        }
        try (RandomAccessFile memory = new RandomAccessFile("/proc/self/mem", "rw")) {
            String environment = new String(Files.readAllBytes(Path.of("/proc/self/environ")), StandardCharsets.ISO_8859_1);
            int place = ("\0" + environment).indexOf("\0" + MARK + "=");
            memory.seek(Long.parseLong(statFields()[ENVIRONMENT_START]) + place + MARK.length() + 1);
            memory.write(mark);
        } catch (IOException | NumberFormatException unseen) {
            // The process group is enough.
        }
    }
}
