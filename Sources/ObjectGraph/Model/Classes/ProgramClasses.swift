internal import CoreDataRuntime
internal import Foundation
internal import Platform
internal import Predicates

/// The classes of the program by their names without a module, as model files contain them: `Album` for `MusicLibrary.Album`.
///
/// Objective-C finds the class of `@objc(Album)` in any module by this name. Swift on other platforms finds a class only by module and
/// name, so this lists the types of all modules, once, and only when a model names a class that is not found otherwise.
package final class ProgramClasses: Sendable {
    package static let shared = ProgramClasses()

    /// Module names by class name; nil before they are listed.
    private let modulesByName = LockedBox<[String: [String]]?>(nil)

    /// Returns the names of the modules with a top-level class called `name`.
    func modules(withClass name: String) -> [String] {
        modulesByName.withLock { Self.listed(&$0)[name] ?? [] }
    }

    /// Returns module and name of each class whose name begins with `prefix`.
    package func names(beginningWith prefix: String) -> [String] {
        modulesByName.withLock {
            let modulesByName = Self.listed(&$0)
            return modulesByName.keys.filter { $0.hasPrefix(prefix) }.sorted().flatMap { name in
                modulesByName[name]!.map { "\($0).\(name)" }
            }
        }
    }

    /// Returns the managed object classes called `name`, in Swift or by `@objc(Name)`, in all modules.
    func managedObjectClasses(named name: String) -> [any ObjectClass.Type] {
        let own = modules(withClass: name).compactMap { NSClassFromString("\($0).\(name)") as? any ObjectClass.Type }
        let named = modules(withClass: ObjectiveCName.className(for: name)).compactMap {
            ObjectiveCName.managedObjectClass(named: name, inModule: $0)
        }
        return own + named.filter { other in !own.contains { $0 == other } }
    }

    /// Makes the next use list the classes again, because the program may have loaded a library.
    package func forget() { modulesByName.withLock { $0 = nil } }

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
            // The standard library and Foundation contain no managed objects.
            guard module != "Swift", !module.hasPrefix("Foundation"), !module.hasPrefix("_") else { return }
            let name = String(cString: name)
            if modulesByName[name]?.contains(module) != true { modulesByName[name, default: []].append(module) }
        }
    }
}
