import Commands
import Foundation
import Synchronization
import Testing

@Suite("Descriptors", .serialized, .timeLimit(.minutes(5)))
struct DescriptorTests {
    private static let bytes = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })

    /// A pipe whose reading end is closed at the end; `body` closes the other one.
    private func withPipe(isBlocking: Bool, _ body: (_ reader: Int32, _ writer: Int32) throws -> Void) throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { close(ends[0]) }
        if !isBlocking { _ = fcntl(ends[1], F_SETFL, O_NONBLOCK) }
        try body(ends[0], ends[1])
    }

    /// Writes `bytes` on another thread while they are read in small pieces here. `between` is called after
    /// each piece with the writing thread, which exists until the end.
    private func transfer(
        _ reader: Int32, _ writer: Int32, between: (pthread_t) -> Void = { _ in }
    ) -> Data {
        let thread = Mutex<pthread_t?>(nil)
        let (start, end, group) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchGroup())
        DispatchQueue.global().async(group: group) {
            // Threads of queues block signals.
            var (signals, former) = (sigset_t(), sigset_t())
            sigaddset(&signals, SIGUSR1)
            pthread_sigmask(SIG_UNBLOCK, &signals, &former)
            defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
            thread.withLock { $0 = pthread_self() }
            start.signal()
            try? Descriptor.write(Self.bytes, to: writer)
            close(writer)
            end.wait()
        }
        start.wait()
        var result = Data()
        var buffer = [UInt8](repeating: 0, count: 1_000)
        while true {
            let count = read(reader, &buffer, buffer.count)
            guard count > 0 else { break }
            result.append(contentsOf: buffer[..<count])
            if let thread = thread.withLock({ $0 }) { between(thread) }
        }
        end.signal()
        group.wait()
        return result
    }

    @Test("more bytes than the pipe holds arrive completely", arguments: [true, false])
    func whole(isBlocking: Bool) throws {
        try withPipe(isBlocking: isBlocking) { reader, writer in
            // Outside of the expectation, which would describe how a megabyte differs.
            let isWhole = transfer(reader, writer) == Self.bytes
            #expect(isWhole)
        }
    }

    @Test("signals that interrupt a write lose nothing")
    func interrupted() throws {
        let previous = signal(SIGUSR1) { _ in }
        var action = sigaction()
        sigaction(SIGUSR1, nil, &action)
        action.sa_flags &= ~Int32(SA_RESTART)
        sigaction(SIGUSR1, &action, nil)
        defer { signal(SIGUSR1, previous) }
        try withPipe(isBlocking: true) { reader, writer in
            let isWhole = transfer(reader, writer) { pthread_kill($0, SIGUSR1) } == Self.bytes
            #expect(isWhole)
        }
    }

    @Test("a nonblocking descriptor that stays full is given up after the timeout")
    func timeout() throws {
        try withPipe(isBlocking: false) { _, writer in
            defer { close(writer) }
            #expect(throws: OutputError(code: EAGAIN)) {
                try Descriptor.write(Self.bytes, to: writer, timeout: .milliseconds(1))
            }
        }
    }

    @Test("what closes on exec is not inherited")
    func inheritance() throws {
        try withPipe(isBlocking: true) { reader, writer in
            defer { close(writer) }
            Descriptor.closeOnExec([reader])
            #expect(Descriptor.allOpen.isSuperset(of: [reader, writer]))
            #expect(Descriptor.allInherited.intersection([reader, writer]) == [writer])
        }
    }
}
