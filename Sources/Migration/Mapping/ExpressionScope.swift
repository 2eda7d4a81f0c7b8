internal import Foundation
internal import ObjectGraph
internal import Predicates

/// Evaluates value expressions and source expressions with the variables of a migration.
///
/// Off Apple's platforms there are no selectors: the methods of the manager, `valueForKey:` and `valueForKeyPath:` are implemented here. The policy
/// answers the other functions (``NSEntityMigrationPolicy/function(named:arguments:)``), and the rest is evaluated as in predicates.
struct ExpressionScope {
    let manager: NSMigrationManager
    var policy: NSEntityMigrationPolicy?
    var mapping: NSEntityMapping?
    var property: NSPropertyMapping?
    var source: NSManagedObject?
    var destination: NSManagedObject?

    /// Returns the value of an expression.
    ///
    /// - Throws: Code 134110, or 134170 for a function of the policy, with the names of the entity mapping and the property.
    func value(of tree: ExpressionTree) throws -> Any? {
        switch tree {
        case .constant(let value), .numberedConstant(let value, _): return value.any
        case .variable(let name): return try variable(name)
        case .navigation(let base, let keys): return try value(of: try value(of: base), at: keys[...])
        case .keyPath(let keys):
            throw failure(
                "“\(keys.joined(separator: "."))” is a key of nothing.", next: "Write “$source.\(keys.joined(separator: "."))”.")
        case .method(let operand, let name, let arguments):
            return try call(name, on: operand, arguments.map { try value(of: $0) })
        case .fetch(let request, let context, let countOnly): return try fetch(request, context, countOnly)
        default: return try plainValue(of: tree)
        }
    }

    private func variable(_ name: String) throws -> Any? {
        switch name {
        case MappingVariable.manager: return manager
        case MappingVariable.source: return source
        case MappingVariable.destination: return destination
        case MappingVariable.entityMapping: return mapping
        case MappingVariable.propertyMapping: return property
        case MappingVariable.entityPolicy: return policy
        default:
            throw failure(
                "There is no variable “$\(name)”.",
                next: "The variables are $manager, $source, $destination, $entityMapping, $propertyMapping and $entityPolicy.")
        }
    }

    /// Replaces the parts that need a migration by their values, and evaluates the rest like any expression.
    private func plainValue(of tree: ExpressionTree) throws -> Any? {
        let resolved = try tree.replacing { part in
            switch part {
            case .variable, .navigation, .method, .fetch: return .constant(try PropertyValue(any: try value(of: part)))
            default: return nil
            }
        }
        do { return try ValueExpression(tree: resolved).value(with: nil) } catch {
            throw failure("\(tree) cannot be evaluated: \(error)", next: "Correct the expression.", cause: error)
        }
    }

    // MARK: Functions

    private func call(_ name: String, on operand: ExpressionTree, _ arguments: [Any?]) throws -> Any? {
        let receiver = try value(of: operand)
        if name == "valueForKey:" || name == "valueForKeyPath:", arguments.count == 1, let path = arguments[0] as? String {
            return try value(of: receiver, at: name == "valueForKey:" ? [path] : path.split(separator: ".").map(String.init)[...])
        }
        switch receiver {
        case let manager as NSMigrationManager:
            if let answer = try managersAnswer(manager, name, arguments) { return answer.value }
            throw unanswered(name, "NSMigrationManager", "override “function(named:arguments:)” of the manager's subclass")
        case let policy as NSEntityMigrationPolicy:
            do {
                if let answer = try policy.function(named: name, arguments: arguments) { return answer.value }
            } catch {
                throw MigrationError.make(
                    NSEntityMigrationPolicyError, mapping, property?.name,
                    reason: "“\(name)” of \(type(of: policy)) failed: \(error.localizedDescription)",
                    cause: error)
            }
            throw unanswered(name, "\(type(of: policy))", "override its “function(named:arguments:)”")
        case nil where isVariable(operand): return nil
        case is NSManagedObject:
            throw unanswered(
                name, "a managed object",
                "give it to the policy, FUNCTION($entityPolicy, \"\(name)\", …), which overrides “function(named:arguments:)”")
        default:
            let tree = ExpressionTree.method(
                .constant(try PropertyValue(any: receiver)), name, try arguments.map { .constant(try PropertyValue(any: $0)) })
            do { return try ValueExpression(tree: tree).value(with: nil) } catch {
                throw failure("The function “\(name)” cannot be called: \(error)", next: "Move it into the policy.", cause: error)
            }
        }
    }

    private func isVariable(_ tree: ExpressionTree) -> Bool { if case .variable = tree { true } else { false } }

    private func managersAnswer(_ manager: NSMigrationManager, _ name: String, _ arguments: [Any?]) throws -> MigrationFunctionValue? {
        if name == MappingSelector.destinationInstances, arguments.count == 2, let names = arguments[0] as? [Any], names.count > 1 {
            var found: [NSManagedObject] = []
            for name in names {
                found +=
                    ExpressionScope.objects(
                        in: try managersAnswer(manager, MappingSelector.destinationInstances, [name, arguments[1]])?.value) ?? []
            }
            return .init(found)
        }
        guard arguments.count == 2, let text = arguments[0] as? String else {
            return try manager.function(named: name, arguments: arguments)
        }
        switch name {
        case MappingSelector.destinationInstances:
            try requireMapping(text)
            let sources = try objects(arguments[1], name)
            // Without source objects the manager would return all.
            return .init(sources.isEmpty ? [] : manager.destinationInstances(forEntityMappingName: text, sourceInstances: sources))
        case MappingSelector.sourceInstances:
            try requireMapping(text)
            let destinations = try objects(arguments[1], name)
            return .init(
                destinations.isEmpty ? [] : manager.sourceInstances(forEntityMappingName: text, destinationInstances: destinations))
        case MappingSelector.fetchRequest:
            return .init(try manager.fetchRequest(forSourceEntityNamed: text, predicateString: arguments[1] as? String))
        default: return try manager.function(named: name, arguments: arguments)
        }
    }

    private func requireMapping(_ name: String) throws {
        if manager.hasMapping(named: name) { return }
        throw failure(
            "The mapping model has no entity mapping “\(name)”.",
            next: "It has: \(manager.mappingModel.entityMappings.map { $0.name }.joined(separator: ", ")).")
    }

    private func objects(_ value: Any?, _ name: String) throws -> [NSManagedObject] {
        if let objects = ExpressionScope.objects(in: value) { return objects }
        throw failure(
            "“\(name)” was given \(value.map { "\(type(of: $0))" } ?? "nil") for objects.", next: "Give it objects, such as $source.name.")
    }

    /// Returns the managed objects in a value; nil if it contains anything else.
    static func objects(in value: Any?) -> [NSManagedObject]? {
        switch AttributeCheck.unwrapped(value) {
        case nil: return []
        case let object as NSManagedObject: return [object]
        case let objects as [NSManagedObject]: return objects
        case let objects as Set<NSManagedObject>: return Array(objects)
        case let objects as NSOrderedSet: return objects.array as? [NSManagedObject]
        case let objects as NSSet: return objects.allObjects as? [NSManagedObject]
        case let objects as [Any]: return objects.filter { !($0 is NSNull) } as? [NSManagedObject]
        default: return nil
        }
    }

    // MARK: Fetches

    private func fetch(_ request: ExpressionTree, _ context: ExpressionTree, _ countOnly: Bool) throws -> Any? {
        guard let request = try value(of: request) as? NSFetchRequest<any NSFetchRequestResult> else {
            throw failure(
                "FETCH is given something that is no fetch request.",
                next: "Give it FUNCTION($manager, \"\(MappingSelector.fetchRequest)\", …).")
        }
        let context = try value(of: context) as? NSManagedObjectContext ?? manager.sourceContext
        if countOnly { return try context.count(for: request) }
        return try context.fetch(request)
    }

    // MARK: Errors

    private func unanswered(_ name: String, _ receiver: String, _ advice: String) -> NSError {
        failure(
            "Nobody answers “\(name)” of \(receiver).",
            next: "Selectors exist on Apple's platforms only: \(advice), and return MigrationFunctionValue(…) for this name.")
    }

    func failure(_ reason: String, next: String?, cause: (any Error)? = nil) -> NSError {
        MigrationError.make(NSMigrationError, mapping, property?.name, reason: reason, next: next, cause: cause)
    }
}

extension ExpressionScope {
    /// Returns the value at a path from any value.
    ///
    /// In addition to the operators of managed objects, it supports those over collections of collections, which Xcode writes.
    private func value(of subject: Any?, at path: ArraySlice<String>) throws -> Any? {
        guard let key = path.first, let subject = AttributeCheck.unwrapped(subject) else { return AttributeCheck.unwrapped(subject) }
        let rest = path.dropFirst()
        switch subject {
        case let object as NSManagedObject:
            if !path.contains(where: { $0.hasPrefix("@") && Self.flattening.contains($0) }) {
                return try managedValue(of: object, at: path)
            }
            return try value(of: try managedValue(of: object, at: [key]), at: rest)
        case let manager as NSMigrationManager: return try value(of: try self.value(key, of: manager), at: rest)
        case let mapping as NSEntityMapping: return try value(of: try self.value(key, of: mapping), at: rest)
        case let mapping as NSPropertyMapping: return try value(of: try self.value(key, of: mapping), at: rest)
        case let object as any KeyValueReadable: return try value(of: object.value(forKey: key), at: rest)
        case let values as [AnyHashable: Any]: return try value(of: values[key], at: rest)
        case let context as NSManagedObjectContext where key == "userInfo": return try value(of: context.userInfo, at: rest)
        default: break
        }
        if let elements = Self.elements(of: subject) { return try value(ofElements: elements, subject, key, rest) }
        return try plainValue(of: .navigation(.constant(try PropertyValue(any: subject)), Array(path)))
    }

    private static let flattening: Set = ["@unionOfSets", "@distinctUnionOfSets", "@unionOfArrays", "@distinctUnionOfArrays"]

    private static func elements(of value: Any) -> [Any]? {
        switch value {
        case let elements as [Any]: elements
        case let elements as NSOrderedSet: elements.array
        case let elements as Set<NSManagedObject>: Array(elements)
        case let elements as NSSet: elements.allObjects
        default: nil
        }
    }

    private func value(ofElements elements: [Any], _ subject: Any, _ key: String, _ rest: ArraySlice<String>) throws -> Any? {
        if key == "@count" { return elements.count }
        if Self.flattening.contains(key) {
            let parts = try elements.compactMap { try value(of: $0, at: rest) }
            let flat = parts.flatMap { Self.elements(of: $0) ?? [$0] }
            guard key.hasPrefix("@distinct") else { return flat }
            var seen: Set<AnyHashable> = []
            return flat.filter { value in (value as? AnyHashable).map { seen.insert($0).inserted } ?? true }
        }
        if key.hasPrefix("@") {
            return try plainValue(of: .navigation(.constant(try PropertyValue(any: subject)), [key] + rest))
        }
        return try elements.compactMap { try value(of: $0, at: [key] + rest) }
    }

    private func managedValue(of object: NSManagedObject, at path: ArraySlice<String>) throws -> Any? {
        var entity: NSEntityDescription? = object.entity
        for key in path {
            guard let known = entity else { break }
            if key.hasPrefix("@") { break }
            guard let property = known.propertiesByName[key] else {
                if key == "objectID", path.count == 1 { return object.objectID }
                if key == "entity" { return try value(of: ["name": known.name ?? ""], at: path.drop { $0 != "entity" }.dropFirst()) }
                throw failure("The entity “\(known.name ?? "?")” has no property “\(key)”.", next: "Correct the expression.")
            }
            entity = (property as? NSRelationshipDescription)?.destinationEntity
            if property is NSAttributeDescription { break }
        }
        return path.count == 1 ? object.value(forKey: path[path.startIndex]) : object.value(forKeyPath: path.joined(separator: "."))
    }

    private func value(_ key: String, of manager: NSMigrationManager) throws -> Any? {
        switch key {
        case "sourceContext": return manager.sourceContext
        case "destinationContext": return manager.destinationContext
        case "userInfo": return manager.userInfo
        case "currentEntityMapping": return manager.currentEntityMapping
        case "migrationProgress": return manager.migrationProgress
        default:
            throw failure(
                "NSMigrationManager has no key “\(key)”.",
                next: "It has sourceContext, destinationContext, userInfo, currentEntityMapping and migrationProgress.")
        }
    }

    private func value(_ key: String, of mapping: NSEntityMapping) throws -> Any? {
        switch key {
        case "name": return mapping.name
        case "sourceEntityName": return mapping.sourceEntityName
        case "destinationEntityName": return mapping.destinationEntityName
        case "userInfo": return mapping.userInfo
        default:
            throw failure(
                "NSEntityMapping has no key “\(key)”.", next: "It has name, sourceEntityName, destinationEntityName and userInfo.")
        }
    }

    private func value(_ key: String, of mapping: NSPropertyMapping) throws -> Any? {
        switch key {
        case "name": return mapping.name
        case "userInfo": return mapping.userInfo
        default: throw failure("NSPropertyMapping has no key “\(key)”.", next: "It has name and userInfo.")
        }
    }
}
