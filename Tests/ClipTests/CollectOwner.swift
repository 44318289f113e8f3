import Foundation
import TestSupport
import Testing

/// A program of the test that owns the clipboard with any types: the tools of desktops offer one at a time.
enum ClipboardOwner {
    /// What an owner answers.
    enum Content {
        case data(Data)
        /// No answer, as of a program that is stopped.
        case stuck

        var text: String {
            switch self {
            case .data(let data): data.map { String(format: "%02x", $0) }.joined()
            case .stuck: "stuck"
            }
        }
    }

    /// Returns when it owns the clipboard; it ends with the next owner.
    static func start(
        in session: ClipboardSession, _ contents: KeyValuePairs<String, Content>
    ) async throws -> SessionProcess {
        let script = session.kind == .sway ? wayland : x11
        let owner = try SessionProcess(
            session.home, ["python3", "-c", common + script] + contents.map { "\($0.key)=\($0.value.text)" })
        _ = try await owner.line(after: "ready")
        return owner
    }

    private static let common = """
        import os, socket, struct, sys
        types = dict(a.split("=", 1) for a in sys.argv[1:])
        data = lambda name: bytes.fromhex(types[name])
        s = socket.socket(socket.AF_UNIX)
        pad = lambda b: b + b"\\0" * (-len(b) % 4)

        """

    /// By the data-control protocol; see WaylandConnection for the messages.
    private static let wayland = """
        s.connect(os.path.join(os.environ["XDG_RUNTIME_DIR"], os.environ["WAYLAND_DISPLAY"]))
        number = lambda *n: struct.pack("=%dI" % len(n), *n)
        text = lambda t: number(len(t) + 1) + pad(t.encode() + b"\\0")
        send = lambda o, op, b=b"": s.sendall(number(o, len(b) + 8 << 16 | op) + b)
        received, passed, kept = b"", [], []
        def event():
            global received
            while True:
                if len(received) >= 8:
                    o, x = struct.unpack("=II", received[:8])
                    if len(received) >= x >> 16:
                        body, received = received[8:x >> 16], received[x >> 16:]
                        return o, x & 65535, body
                more, descriptors, _, _ = socket.recv_fds(s, 65536, 16)
                if not more: sys.exit()
                received += more
                passed.extend(descriptors)
        string = lambda b: b[4:4 + struct.unpack("=I", b[:4])[0] - 1].decode()
        send(1, 1, number(2))
        send(1, 0, number(3))
        names = {}
        while True:
            o, op, b = event()
            if o == 3: break
            if o == 2: names[string(b[4:])] = struct.unpack("=I", b[:4])[0]
        for o, name in ((4, "wl_seat"), (5, "zwlr_data_control_manager_v1")):
            send(2, 0, number(names[name]) + text(name) + number(1, o))
        send(5, 0, number(6))
        for name in types: send(6, 0, text(name))
        send(5, 1, number(7, 4))
        send(7, 0, number(6))
        send(1, 0, number(8))
        while True:
            o, op, b = event()
            if o == 8: print("ready", flush=True)
            if (o, op) == (6, 1): sys.exit()
            if (o, op) != (6, 0): continue
            descriptor = passed.pop(0)
            if types[string(b)] == "stuck":
                kept.append(descriptor)
                continue
            try:
                with os.fdopen(descriptor, "wb") as pipe: pipe.write(data(string(b)))
            except BrokenPipeError: pass
        """

    /// Without types, it clears the clipboard. Its window has the class of the type `WM_CLASS`.
    private static let x11 = """
        def field(f): return f.read(struct.unpack(">H", f.read(2))[0])
        with open(os.environ["XAUTHORITY"], "rb") as f:
            f.read(2), field(f), field(f)
            method, cookie = field(f), field(f)
        s.connect("/tmp/.X11-unix/X" + os.environ["DISPLAY"][1:])
        def read(n):
            b = b""
            while len(b) < n:
                more = s.recv(n - len(b))
                if not more: sys.exit()
                b += more
            return b
        s.sendall(struct.pack("<BxHHHHxx", 108, 11, 0, len(method), len(cookie))
                  + pad(method) + pad(cookie))
        setup = read(4 * struct.unpack("<H", read(8)[6:])[0])
        window, = struct.unpack("<I", setup[4:8])
        vendor, = struct.unpack("<H", setup[16:18])
        start = 32 + (vendor + 3) // 4 * 4 + 8 * setup[21]
        root, = struct.unpack("<I", setup[start:start + 4])
        def request(op, detail, body):
            s.sendall(struct.pack("<BBH", op, detail, 1 + len(body) // 4) + body)
        events = []
        def atom(name):
            request(16, 0, struct.pack("<Hxx", len(name)) + pad(name.encode()))
            while True:
                b = read(32)
                if b[0] == 1: return struct.unpack("<I", b[8:12])[0]
                events.append(b)
        def change(window, name, type, format, content):
            request(18, 0, struct.pack("<IIIBxxxI", window, name, type, format,
                                       len(content) * 8 // format) + pad(content))
        clipboard, targets = atom("CLIPBOARD"), atom("TARGETS")
        if not types:
            request(22, 0, struct.pack("<III", 0, clipboard, 0))
            atom("X")
            print("ready", flush=True)
            sys.exit()
        request(1, 0, struct.pack("<IIhhHHHHII", window, root, 0, 0, 1, 1, 0, 0, 0, 0))
        name = types.pop("WM_CLASS", None)
        if name: change(window, 67, 31, 8, b"own\\0" + bytes.fromhex(name) + b"\\0")
        atoms = {atom(name): name for name in types}
        request(22, 0, struct.pack("<III", window, clipboard, 0))
        atom("X")
        print("ready", flush=True)
        while True:
            b = events.pop(0) if events else read(32)
            if b[0] == 29: sys.exit()
            if b[0] != 30: continue
            time, _, asker, selection, target, name = struct.unpack("<6I", b[4:28])
            if target == targets:
                change(asker, name, 4, 32, struct.pack("<%dI" % len(atoms), *atoms))
            elif types[atoms[target]] == "stuck": continue
            else: change(asker, name, target, 8, data(atoms[target]))
            request(25, 0, struct.pack("<II", asker, 0) + struct.pack(
                "<BxHIIIII8x", 31, 0, time, asker, selection, target, name))
        """
}

extension ClipboardOwner.Content: ExpressibleByStringLiteral {
    init(stringLiteral text: String) { self = .data(Data(text.utf8)) }
}
