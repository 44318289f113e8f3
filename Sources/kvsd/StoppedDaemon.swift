import ArgumentParser
import KVStore
import KVStoreServer

/// The data of a daemon that does not run, held so that none can start meanwhile.
struct StoppedDaemon {
    let directory: DataDirectory
    let ledger: HubLedger
    let stores: [StoreID]

    static func open(_ directory: DataDirectory) throws -> StoppedDaemon {
        guard directory.hasLog else {
            throw Failure.exit("\(directory.path) holds no daemon's data (use --data)", code: 66)
        }
        do throws(DataDirectoryError) {
            let storage = try directory.lockedStorage()
            do throws(LogError) {
                let ledger = try HubLedger(storage: storage, seed: 0)
                return StoppedDaemon(
                    directory: directory, ledger: ledger,
                    stores: ledger.allStores)
            } catch {
                throw DataDirectoryError.log(error)
            }
        } catch {
            throw Failure.exit(error)
        }
    }

    func close() throws {
        do throws(LogError) { try ledger.close() } catch {
            throw Failure.exit(.log(error))
        }
    }
}
