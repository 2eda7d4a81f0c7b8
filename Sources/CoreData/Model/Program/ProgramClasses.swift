internal import CoreDataRuntime
internal import Foundation

/// The classes of the program by their bare names, as model files have them: `Album` for `MusicLibrary.Album`.
///
/// Objective-C finds the class of `@objc(Album)` in any module by this name. Swift elsewhere finds a class only by module and name, so this
/// looks through the types of all modules, once, and only when a model names a class that is not found otherwise.
final class ProgramClasses: Sendable {
    static let shared = ProgramClasses()

    /// Module names by class name; nil before they are listed.
    private let modulesByName = LockedBox<[String: [String]]?>(nil)

    /// The names of the modules that have a class called `name` at their top.
    func modules(withClass name: String) -> [String] {
        modulesByName.withLock { Self.listed(&$0)[name] ?? [] }
    }

    /// Module and name of each class whose name begins with `prefix`.
    func names(beginningWith prefix: String) -> [String] {
        modulesByName.withLock {
            let modulesByName = Self.listed(&$0)
            return modulesByName.keys.filter { $0.hasPrefix(prefix) }.sorted().flatMap { name in
                modulesByName[name]!.map { "\($0).\(name)" }
            }
        }
    }

    /// The managed object classes called `name`, in Swift or by `@objc(Name)`, of all modules.
    func managedObjectClasses(named name: String) -> [NSManagedObject.Type] {
        let own = modules(withClass: name).compactMap { NSClassFromString("\($0).\(name)") as? NSManagedObject.Type }
        let named = modules(withClass: ObjectiveCName.className(for: name)).compactMap {
            ObjectiveCName.managedObjectClass(named: name, inModule: $0)
        }
        return own + named.filter { other in !own.contains { $0 == other } }
    }

    /// Lists the classes again at the next use: the program may have loaded a library.
    func forget() { modulesByName.withLock { $0 = nil } }

    private static func listed(_ known: inout [String: [String]]?) -> [String: [String]] {
        if let known { return known }
        // It outlives the visit, in which its address is used.
        let list = List()
        coredata_visit_classes(
            { module, name, list in
                guard let module, let name, let list else { return }
                Unmanaged<List>.fromOpaque(list).takeUnretainedValue().add(module, name)
            }, Unmanaged.passUnretained(list).toOpaque())
        known = list.modulesByName
        return list.modulesByName
    }

    private final class List {
        var modulesByName: [String: [String]] = [:]

        func add(_ module: UnsafePointer<CChar>, _ name: UnsafePointer<CChar>) {
            let module = String(cString: module)
            // What the standard library and Foundation have is no managed object.
            guard module != "Swift", !module.hasPrefix("Foundation"), !module.hasPrefix("_") else { return }
            let name = String(cString: name)
            if modulesByName[name]?.contains(module) != true { modulesByName[name, default: []].append(module) }
        }
    }
}
