import Essentials
import Commands
import KVStoreHTTP

extension StoreEnvironment {
    /// Throws if the environment decides to which account this machine's stores belong.
    func checkJoining(_ verb: String) throws(CommandFailure) {
        guard namesDaemon else { return }
        throw CommandFailure(
            .configuration,
            "cannot \(verb): \(Self.daemonVariable) and \(Self.tokenVariable) in the environment decide on the "
                + "account; unset them first")
    }
}
