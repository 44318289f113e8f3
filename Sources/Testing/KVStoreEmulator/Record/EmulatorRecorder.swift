import Essentials
import KVStoreCore
import KVStoreSimulation
import KVStoreWire
import NIOCore
import NIOHTTP1
import KVStoreServer

/// Writes the record of a session: every input in order, each followed by its events and the answers of what it
/// executed.
///
/// A record with the seed in its first line is all that a replay needs; one of the same inputs is the same, byte for
/// byte. On the event loop of the emulator only, and unchecked for that reason.
final class EmulatorRecorder: @unchecked Sendable {
    enum Input {
        case sends(world: String, device: String, notBefore: Int64)
        case releases(world: String)
    }

    /// An input and what came of it; an answer that is missing is nil.
    private final class Step {
        var lines: [Data?] = []
        var missingCount = 0
    }

    private let clock: SessionClock
    private let write: (Data) -> Void
    private var steps = CircularBuffer<Step>()
    private var step: Step?
    private var lastNumber = 0
    private var lastEventID: UInt64 = 0
    /// The time of the next input, in a replay.
    private var nextTime: Int64?
    private var whenComplete: (() -> Void)?

    /// - Parameter write: is called with whole lines.
    init(_ start: RecordStart, _ clock: SessionClock, write: @escaping (Data) -> Void) {
        self.clock = clock
        self.write = write
        write(Self.text(RecordLine(record: start)))
    }

    /// Makes the next input happen at a time of a record, and completes when its outcome is written.
    func replay(at time: Int64, _ input: () -> Void, _ complete: @escaping () -> Void) {
        nextTime = time
        input()
        nextTime = nil
        if steps.isEmpty { complete() } else { whenComplete = complete }
    }

    // MARK: - Inputs

    func arrive(_ request: Request, _ body: (_ number: Int) -> Void) {
        lastNumber += 1
        let number = lastNumber
        perform(keepsEmpty: true) { time in
            RecordLine(n: number, arrives: RecordLine.Arrival(request, time: time))
        } _: {
            body(number)
        }
    }

    /// - Parameter keepsEmpty: whether the input is written if nothing comes of it.
    func record<Value>(_ input: Input, keepsEmpty: Bool = true, body: () -> Value) -> Value {
        perform(keepsEmpty: keepsEmpty) { time in
            switch input {
            case .sends(let world, let device, let notBefore):
                RecordLine(
                    sends: RecordLine.Sending(
                        time: time, world: world, device: device, notBefore: notBefore > 0 ? notBefore : nil))
            case .releases(let world): RecordLine(releases: RecordLine.Release(time: time, world: world))
            }
        } _: {
            body()
        }
    }

    /// Within another input, it is a part of that.
    private func perform<Value>(keepsEmpty: Bool, _ line: (_ time: Int64) -> RecordLine, _ body: () -> Value) -> Value {
        guard step == nil else { return body() }
        let time = clock.freeze(at: nextTime)
        let begun = Step()
        begun.lines = [Self.text(line(time))]
        step = begun
        steps.append(begun)
        defer {
            step = nil
            clock.thaw()
            if !keepsEmpty, begun.lines.count == 1 { steps.removeLast() }
            flush()
        }
        return body()
    }

    // MARK: - What comes of them

    /// Opening and closing a stream is no part of a record: a replay has none.
    func record(_ event: EmulatorEvents.Event) {
        switch event.content {
        case .connected, .disconnected: return
        default: break
        }
        guard let step else { return }
        lastEventID += 1
        step.lines.append(Self.text(RecordedEvent(EventDocument(event), id: lastEventID)))
    }

    /// Takes the place of a completion, and writes its answer where the request was executed.
    func answering(
        _ number: Int?, _ request: Request, _ complete: @escaping Completion<Response>
    ) -> Completion<Response> {
        guard let number, let step else { return complete }
        let index = step.lines.count
        step.lines.append(nil)
        step.missingCount += 1
        return { [self] result in
            step.lines[index] = Self.text(RecordLine(n: number, answers: RecordLine.Answer(result, to: request)))
            step.missingCount -= 1
            flush()
            complete(result)
        }
    }

    private func flush() {
        while let first = steps.first, first !== step, first.missingCount == 0 {
            steps.removeFirst()
            write(Data(first.lines.compactMap { $0 }.joined()))
        }
        if steps.isEmpty, let complete = whenComplete {
            whenComplete = nil
            complete()
        }
    }

    private static func text(_ line: some Encodable) -> Data {
        WireJSON.encode(line) + Data("\n".utf8)
    }
}

extension RecordLine.Arrival {
    fileprivate init(_ request: Request, time: Int64) {
        self.time = time
        world = request.device?.account
        device = request.device?.name
        method = request.method.rawValue
        target = request.target
        var bytes = Data(request.body.readableBytesView)
        type = request.fields.mediaType
        if request.resource.route === Route.sync, type == MediaType.sync,
            let message = try? bytes.withUnsafeBytes({ try WireBinary.decode(SyncRequest.self, from: $0) })
        {
            bytes = WireJSON.encode(message)
            type = MediaType.json
        }
        accept = request.fields.accept.flatMap { accept in
            [MediaType.bytes, MediaType.typedValue].contains(where: accept.contains) ? accept : nil
        }
        account = request.fields.account
        lastEventID = request.fields.lastEventID
        guard !bytes.isEmpty else { return }
        body = String(validating: bytes, as: UTF8.self)
        if body == nil { base64 = bytes }
    }
}

extension RecordLine.Answer {
    fileprivate init(_ result: Result<Response, Problem>, to request: Request) {
        switch result {
        case .success(.answer(let answer)):
            status = Int(answer.status.code)
            // With times at which devices were seen, which depend on more than the record.
            guard ![Route.identity, .devices, .device].contains(where: { $0 === request.resource.route }) else {
                return
            }
            var bytes = Data(answer.body.readableBytesView)
            if answer.type == MediaType.sync,
                let message = try? bytes.withUnsafeBytes({ try WireBinary.decode(SyncResponse.self, from: $0) })
            {
                bytes = WireJSON.encode(message)
            }
            guard !bytes.isEmpty else { return }
            body = String(validating: bytes, as: UTF8.self)
            if body == nil { base64 = bytes }
        case .success: status = 200
        case .failure(let problem):
            status = problem.status
            body = String(validating: problem.json, as: UTF8.self)
        }
    }
}
