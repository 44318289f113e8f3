import Essentials
import KVStoreEssentials

#if Network || PostgreSQL
    import Crypto

    extension StoreEnvironment {
        /// The first 8 bytes of the SHA-256 of a token, in hexadecimal digits.
        static func digest(of token: String) throws(StoreError) -> String {
            SHA256.hash(data: Data(token.utf8)).prefix(8).map { $0.hexadecimal(digits: 2) }.joined()
        }
    }
#else
    extension StoreEnvironment {
        static func digest(of token: String) throws(StoreError) -> String {
            throw StoreError(
                .unreachable, operation: "use", subject: tokenVariable,
                reason: MissingNetwork.reason, hint: MissingNetwork.hint)
        }
    }
#endif
