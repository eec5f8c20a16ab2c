package svc.jupyter;

import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.ProtocolFamily;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.spi.SelectorProvider;
import sun.nio.ch.EPollSelectorProvider;

/**
 * Makes a program listen on its node's own address instead of all addresses of the machine. The shuffle and the master
 * of a MapReduce job have no setting for it.
 *
 * <p>Named by {@code -Djava.nio.channels.spi.SelectorProvider}. The channel's class is in the JDK's own package, so
 * its bytes come as a resource; {@code --add-opens java.base/sun.nio.ch=ALL-UNNAMED} allows that.
 */
public final class OwnAddressProvider extends EPollSelectorProvider {
  private static final String CHANNEL = "/sun/nio/ch/OwnAddressChannel.class";
  private static final MethodHandle NEW_CHANNEL = newChannel();

  /** Called by the JDK. */
  public OwnAddressProvider() {}

  @Override
  public ServerSocketChannel openServerSocketChannel() throws IOException {
    try {
      return (ServerSocketChannel) NEW_CHANNEL.invoke((SelectorProvider) this);
    } catch (IOException | RuntimeException | Error error) {
      throw error;
    } catch (Throwable error) {
      throw new IOException(error);
    }
  }

  /** The family is IPv4 wherever this class is used: the daemons run with {@code java.net.preferIPv4Stack}. */
  public ServerSocketChannel openServerSocketChannel(ProtocolFamily family) throws IOException {
    return openServerSocketChannel();
  }

  private static MethodHandle newChannel() {
    try (InputStream bytes = OwnAddressProvider.class.getResourceAsStream(CHANNEL)) {
      MethodHandles.Lookup inside = MethodHandles.privateLookupIn(EPollSelectorProvider.class, MethodHandles.lookup());
      Class<?> channel = inside.defineClass(bytes.readAllBytes());
      return inside.findConstructor(channel, MethodType.methodType(void.class, SelectorProvider.class));
    } catch (IOException | ReflectiveOperationException error) {
      throw new ExceptionInInitializerError(error);
    }
  }
}
