import CoreData
@_spi(Stores) import ObjectGraph
import SQLiteStore
import Synchronization
import WriterVersions

/// Migrates a store from the first version to another, and tells how many rows it has written: the store's own migration, without opening.
///
/// - Parameter limit: The largest size of a file in kilobytes, beyond which writing fails; 0 for none.
func migrate(_ file: String, to version: String, limit: Int64) throws {
    if limit > 0 {
        // A write beyond the limit is an error then, and ends nothing.
        signal(SIGXFSZ, SIG_IGN)
        var size = rlimit(rlim_cur: rlim_t(limit) << 10, rlim_max: rlim_t(limit) << 10)
        guard setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &size) == 0 else { exit(6) }
    }
    let progress = Progress(totalUnitCount: 1)
    let isDone = Atomic(false)
    let watching = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
        var last: Int64 = 0
        while !isDone.load(ordering: .acquiring) {
            usleep(500)
            let now = progress.completedUnitCount
            if now != last { report("\(now)") }
            last = now
        }
        watching.signal()
    }
    defer {
        isDone.store(true, ordering: .releasing)
        watching.wait()
    }
    let (old, new) = (WriterVersions.model("first"), WriterVersions.model(version))
    try SQLiteStore.migrateFiles(
        at: URL(fileURLWithPath: file), options: [NSPersistentStoreTimeoutOption: NSNumber(value: 30)], from: old, to: new,
        by: InferredMapping.infer(from: old, to: new), rules: MigrationRules(), progress: progress)
}
