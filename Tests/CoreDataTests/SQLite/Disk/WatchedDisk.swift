import CSQLite
import Foundation
import Platform

@testable import ObjectGraph

/// A directory whose files SQLite writes through a shim, which keeps a log of every write and sync, and can let them fail.
///
/// The shim lies over SQLite's own file system and is its default from the first watched directory on. Files elsewhere do not pass through it.
// `state` is behind its lock.
final class WatchedDisk: @unchecked Sendable {
    /// What happened to the files, which are numbered as they were made.
    enum Event {
        case made(Int, name: String)
        case written(Int, offset: Int, [UInt8])
        case cut(Int, size: Int)
        case synced(Int)
        case removed(name: String, isDurable: Bool)
        case renamed(from: String, to: String)
        case syncedNames
    }

    private struct State {
        var events: [Event] = []
        var names: [String: Int] = [:]
        var count = 0
        /// The result of every write to a write-ahead log; 0 for those that succeed.
        var failure: Int32 = 0
    }

    let url: URL
    private let state = Guarded(State())

    init(_ url: URL) {
        self.url = url
        DiskShim.install()
        DiskShim.disks.withValue { $0[url.path] = self }
    }

    /// Ends the watching. Open files stay watched.
    func forget() { DiskShim.disks.withValue { $0[url.path] = nil } }

    var events: [Event] { state.withValue { $0.events } }
    var eventCount: Int { state.withValue { $0.events.count } }

    /// Lets every write to a write-ahead log fail with a code of SQLite, until it is 0 again.
    func failWrites(_ code: Int32) { state.withValue { $0.failure = code } }

    /// Runs `body`, and logs the calls by which it moves files, too.
    func watchingMoves<Result>(_ body: () throws -> Result) rethrows -> Result {
        try FileCalls.$observer.withValue(.init { self.note($0) }, operation: body)
    }

    private func note(_ call: FileCalls.Call) {
        func name(_ path: String) -> String? {
            let file = URL(fileURLWithPath: path)
            return file.deletingLastPathComponent().path == url.path ? file.lastPathComponent : nil
        }
        switch call {
        case .synchronize(url.path): note(.syncedNames)
        case .synchronize(let path):
            if let number = name(path).flatMap({ name in state.withValue { $0.names[name] } }) { note(.synced(number)) }
        case .rename(let path, let place):
            if let from = name(path), let to = name(place) { note(.renamed(from: from, to: to)) }
        case .remove(let path): if let name = name(path) { note(.removed(name: name, isDurable: false)) }
        case .link, .open, .setMode, .write, .close: break
        }
    }

    // MARK: Called by the shim

    fileprivate func opened(_ name: String, isNew: Bool) -> Int {
        state.withValue { state in
            if !isNew, let known = state.names[name] { return known }
            state.count += 1
            state.names[name] = state.count
            state.events.append(.made(state.count, name: name))
            return state.count
        }
    }

    fileprivate func failure(_ name: String) -> Int32 { name.hasSuffix("-wal") ? state.withValue { $0.failure } : 0 }

    fileprivate func note(_ event: Event) {
        state.withValue { state in
            state.events.append(event)
            switch event {
            case .removed(let name, _): state.names[name] = nil
            case .renamed(let from, let to): state.names[to] = state.names.removeValue(forKey: from)
            case .made, .written, .cut, .synced, .syncedNames: break
            }
        }
    }
}

/// An open file of a watched directory. SQLite's file owns a reference.
private final class WatchedFile {
    let disk: WatchedDisk
    let name: String
    let number: Int

    init(_ disk: WatchedDisk, _ name: String, _ number: Int) {
        self.disk = disk
        self.name = name
        self.number = number
    }
}

/// The shim: a file of it is a head, with the record of the file, and behind it the file of SQLite's own file system.
private enum DiskShim {
    struct Head {
        var base: sqlite3_file
        var record: Unmanaged<WatchedFile>?
    }

    static let disks = Guarded<[String: WatchedDisk]>([:])
    static let headSize = 64

    // Set once, before the shim is registered; SQLite keeps the addresses for good.
    nonisolated(unsafe) static var real: UnsafeMutablePointer<sqlite3_vfs>! = nil
    nonisolated(unsafe) static let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    nonisolated(unsafe) static let shim = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    static let installed: Void = {
        real = sqlite3_vfs_find(nil)
        var vfs = real.pointee
        vfs.szOsFile += Int32(headSize)
        vfs.zName = UnsafePointer(strdup("coredata-watched"))
        vfs.pNext = nil
        vfs.xOpen = { _, name, file, flags, outFlags in DiskShim.open(name, file, flags, outFlags) }
        vfs.xDelete = { _, name, isDurable in
            let code = DiskShim.real.pointee.xDelete(DiskShim.real, name, isDurable)
            if code == SQLITE_OK, let name, let (disk, file) = DiskShim.place(name) {
                disk.note(.removed(name: file, isDurable: isDurable != 0))
            }
            return code
        }
        shim.initialize(to: vfs)
        methods.initialize(to: made())
        precondition(sqlite3_vfs_register(shim, 1) == SQLITE_OK)
    }()

    static func install() { installed }

    /// The watched directory of a path, and the name of the file in it.
    static func place(_ path: UnsafePointer<CChar>) -> (WatchedDisk, String)? {
        let url = URL(fileURLWithPath: String(cString: path))
        return disks.withValue { $0[url.deletingLastPathComponent().path] }.map { ($0, url.lastPathComponent) }
    }

    static func open(
        _ name: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32, _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
        guard let file else { return SQLITE_MISUSE }
        guard let name, let (disk, last) = place(name) else { return real.pointee.xOpen(real, name, file, flags, outFlags) }
        let isNew = access(name, F_OK) != 0
        file.pointee.pMethods = nil
        let code = real.pointee.xOpen(real, name, inner(file), flags, outFlags)
        if code != SQLITE_OK { return code }
        let record = WatchedFile(disk, last, disk.opened(last, isNew: isNew))
        head(file).pointee.record = Unmanaged.passRetained(record)
        file.pointee.pMethods = UnsafePointer(methods)
        return SQLITE_OK
    }

    static func head(_ file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<Head> {
        UnsafeMutableRawPointer(file).assumingMemoryBound(to: Head.self)
    }

    static func inner(_ file: UnsafeMutablePointer<sqlite3_file>?) -> UnsafeMutablePointer<sqlite3_file> {
        (UnsafeMutableRawPointer(file!) + headSize).assumingMemoryBound(to: sqlite3_file.self)
    }

    static func own(_ file: UnsafeMutablePointer<sqlite3_file>?) -> sqlite3_io_methods { inner(file).pointee.pMethods.pointee }

    static func record(_ file: UnsafeMutablePointer<sqlite3_file>?) -> WatchedFile { head(file!).pointee.record!.takeUnretainedValue() }

    static func made() -> sqlite3_io_methods {
        var made = sqlite3_io_methods()
        made.iVersion = 3
        made.xClose = { file in
            let code = DiskShim.own(file).xClose(DiskShim.inner(file))
            DiskShim.head(file!).pointee.record?.release()
            DiskShim.head(file!).pointee.record = nil
            return code
        }
        made.xRead = { file, bytes, count, offset in DiskShim.own(file).xRead(DiskShim.inner(file), bytes, count, offset) }
        made.xWrite = { file, bytes, count, offset in
            let record = DiskShim.record(file)
            let failure = record.disk.failure(record.name)
            if failure != 0 { return failure }
            let code = DiskShim.own(file).xWrite(DiskShim.inner(file), bytes, count, offset)
            if code == SQLITE_OK, let bytes {
                let written = [UInt8](UnsafeRawBufferPointer(start: bytes, count: Int(count)))
                record.disk.note(.written(record.number, offset: Int(offset), written))
            }
            return code
        }
        made.xTruncate = { file, size in
            let code = DiskShim.own(file).xTruncate(DiskShim.inner(file), size)
            let record = DiskShim.record(file)
            if code == SQLITE_OK { record.disk.note(.cut(record.number, size: Int(size))) }
            return code
        }
        made.xSync = { file, flags in
            let code = DiskShim.own(file).xSync(DiskShim.inner(file), flags)
            let record = DiskShim.record(file)
            if code == SQLITE_OK { record.disk.note(.synced(record.number)) }
            return code
        }
        made.xFileSize = { file, size in DiskShim.own(file).xFileSize(DiskShim.inner(file), size) }
        made.xLock = { file, lock in DiskShim.own(file).xLock(DiskShim.inner(file), lock) }
        made.xUnlock = { file, lock in DiskShim.own(file).xUnlock(DiskShim.inner(file), lock) }
        made.xCheckReservedLock = { file, result in DiskShim.own(file).xCheckReservedLock(DiskShim.inner(file), result) }
        made.xFileControl = { file, operation, argument in DiskShim.own(file).xFileControl(DiskShim.inner(file), operation, argument) }
        made.xSectorSize = { file in DiskShim.own(file).xSectorSize(DiskShim.inner(file)) }
        made.xDeviceCharacteristics = { file in DiskShim.own(file).xDeviceCharacteristics(DiskShim.inner(file)) }
        made.xShmMap = { file, region, size, extends, place in
            DiskShim.own(file).xShmMap(DiskShim.inner(file), region, size, extends, place)
        }
        made.xShmLock = { file, offset, count, flags in DiskShim.own(file).xShmLock(DiskShim.inner(file), offset, count, flags) }
        made.xShmBarrier = { file in DiskShim.own(file).xShmBarrier(DiskShim.inner(file)) }
        made.xShmUnmap = { file, removes in DiskShim.own(file).xShmUnmap(DiskShim.inner(file), removes) }
        made.xFetch = { file, offset, count, place in DiskShim.own(file).xFetch(DiskShim.inner(file), offset, count, place) }
        made.xUnfetch = { file, offset, place in DiskShim.own(file).xUnfetch(DiskShim.inner(file), offset, place) }
        return made
    }
}
