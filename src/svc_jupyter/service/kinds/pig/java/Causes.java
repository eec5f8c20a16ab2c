package svc.jupyter.pig;

import java.util.ArrayList;
import java.util.List;

import org.apache.log4j.AppenderSkeleton;
import org.apache.log4j.Level;
import org.apache.log4j.spi.LoggingEvent;

/** Keeps exceptions that are only logged: failures in the tasks of a local run are reported nowhere else. */
final class Causes extends AppenderSkeleton {
    private static final int MOST = 50;

    private final List<Throwable> kept = new ArrayList<>();

    @Override
    protected synchronized void append(LoggingEvent event) {
        boolean isFailure = event.getLevel().isGreaterOrEqual(Level.WARN) && event.getThrowableInformation() != null;
        if (isFailure && kept.size() < MOST) {
            kept.add(event.getThrowableInformation().getThrowable());
        }
    }

    synchronized List<Throwable> all() {
        return new ArrayList<>(kept);
    }

    synchronized void forget() {
        kept.clear();
    }

    @Override
    public void close() {
        // There is nothing to close.
    }

    @Override
    public boolean requiresLayout() {
        return false;
    }
}
