package svc.jupyter.hive;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import javax.net.SocketFactory;

/** Connects PostgreSQL's driver to a Unix domain socket, which it does not support itself. */
public final class UnixSocketFactory extends SocketFactory {
    private final Path path;

    /** Takes the path of the socket from the driver's option `socketFactoryArg`. */
    public UnixSocketFactory(String path) {
        this.path = Path.of(path);
    }

    @Override
    public Socket createSocket() {
        return new UnixSocket(path);
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
        return connected();
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort) throws IOException {
        return connected();
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
        return connected();
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress localHost, int localPort) throws IOException {
        return connected();
    }

    private Socket connected() throws IOException {
        Socket socket = createSocket();
        socket.connect(null);
        return socket;
    }

    /** A Unix domain socket; it ignores options of TCP, and its reads have no time limit. */
    private static final class UnixSocket extends Socket {
        private final Path path;
        private SocketChannel channel;

        UnixSocket(Path path) {
            this.path = path;
        }

        @Override
        public void connect(SocketAddress address) throws IOException {
            connect(address, 0);
        }

        @Override
        public void connect(SocketAddress address, int timeout) throws IOException {
            channel = SocketChannel.open(StandardProtocolFamily.UNIX);
            channel.connect(UnixDomainSocketAddress.of(path));
        }

        @Override
        public InputStream getInputStream() {
            return Channels.newInputStream(channel);
        }

        @Override
        public OutputStream getOutputStream() {
            return Channels.newOutputStream(channel);
        }

        @Override
        public boolean isConnected() {
            return channel != null && channel.isConnected();
        }

        @Override
        public boolean isClosed() {
            return channel != null && !channel.isOpen();
        }

        @Override
        public void close() throws IOException {
            if (channel != null) {
                channel.close();
            }
        }

        @Override
        public void setSoTimeout(int timeout) {}

        @Override
        public int getSoTimeout() {
            return 0;
        }

        @Override
        public void setTcpNoDelay(boolean on) {}

        @Override
        public void setKeepAlive(boolean on) {}

        @Override
        public void setReceiveBufferSize(int size) {}

        @Override
        public void setSendBufferSize(int size) {}

        @Override
        public int getSendBufferSize() {
            return 1 << 16;
        }
    }
}
