import Dispatch
import Essentials
import KVStoreWire
import LocalFiles
import Logging
import NIOCore
import NIOSSL
import Synchronization

/// The certificate that a running server presents. Each new connection looks whether the files have changed, and gets
/// the newest ones that can be used. Safe to call from any thread.
package final class ServerCertificate: Sendable {
    private struct State {
        var context: NIOSSLContext
        /// Never empty.
        var chain: [NIOSSLCertificate]
        /// What the files were that were read last, whether or not they could be used.
        var statuses: [FileStatus?]
        /// When a renewal was begun last.
        var renewal = Date.distantPast
    }

    let files: CertificateFiles
    /// Nil for files of the operator.
    private let own: OwnCertificate?
    private let logger: Logger
    private let now: @Sendable () -> Date
    private let state: Mutex<State>
    /// Renewals write to the disk, which connections must not wait for.
    let renewals = DispatchQueue(label: "ubiquity.certificate")
    private static let renewalPause: TimeInterval = 3_600

    /// Creates or reads the files; nil without encryption. Blocks.
    init?(
        _ encryption: ServerConfiguration.Encryption, directory: String, logger: Logger,
        now: @escaping @Sendable () -> Date = { Date() }
    ) throws(ServerError) {
        switch encryption {
        case .none: return nil
        case .ownCertificate:
            let own = OwnCertificate(directory: directory)
            try own.prepare(now: now())
            self.own = own
            files = own.files
        case .files(let certificate, let key):
            own = nil
            files = CertificateFiles(certificate: LocalFile(certificate), key: LocalFile(key))
        }
        self.logger = logger
        self.now = now
        let statuses = files.statuses
        let (context, chain) = try files.load()
        state = Mutex(State(context: context, chain: chain, statuses: statuses))
    }

    /// The certificate's file.
    var path: String { files.certificate.path }

    var keyFingerprint: KeyFingerprint? { state.withLock { $0.chain[0].keyFingerprint } }

    /// The private authority that the newest usable certificate is of; nil without one.
    var authority: CertificateAuthority? {
        let chain = state.withLock { state in
            reload(&state)
            return state.chain
        }
        return own == nil ? nil : CertificateAuthority(issuing: chain)
    }

    /// The handlers of a new connection, in front of all others.
    func handlers(_ connections: ConnectionTable) -> [any ChannelHandler] {
        [PlainTextRefusal(connections), NIOSSLServerHandler(context: context())]
    }

    /// The newest usable context.
    func context() -> NIOSSLContext {
        state.withLock { state in
            reload(&state)
            let time = now()
            if let own, OwnCertificate.isDue(state.chain[0], now: time),
                abs(time.timeIntervalSince(state.renewal)) >= Self.renewalPause
            {
                state.renewal = time
                renewals.async { [self] in renew(own) }
            }
            return state.context
        }
    }

    private func reload(_ state: inout State) {
        let statuses = files.statuses
        guard statuses != state.statuses else { return }
        state.statuses = statuses
        do throws(ServerError) {
            let former = state.chain[0].keyFingerprint
            (state.context, state.chain) = try files.load()
            let key = state.chain[0].keyFingerprint
            logger.notice("certificate reloaded from \(files.certificate.path)")
            if key != former {
                logger.warning(
                    "the certificate has another key: devices that were paired with the former one must be paired again"
                )
            }
        } catch {
            logger.error("certificate unchanged: \(error)")
        }
    }

    private func renew(_ own: OwnCertificate) {
        do throws(ServerError) {
            try own.prepare(now: now())
        } catch {
            // Tried again after a while: paired programs know the key, but browsers refuse an expired certificate.
            logger.error("certificate not renewed: \(error)")
        }
    }
}
