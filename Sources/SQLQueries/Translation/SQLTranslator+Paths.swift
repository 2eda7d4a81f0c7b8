internal import Foundation
@_spi(Stores) internal import ObjectGraph
internal import Predicates

extension SQLTranslator {
    /// Translates a key path.
    func translate(path keys: ArraySlice<String>, from base: SQLOperand) throws -> SQLOperand {
        if let error = InvalidPredicateError.ofPath(with: keys.count, in: clause) { throw error }
        var current = base
        var rest = keys
        while let key = rest.popFirst() {
            if key.hasPrefix("@") { return try collectionOperator(key, rest, of: current) }
            switch current {
            case .object(let object): current = try step(key, from: object)
            case .many(let many): current = .many(try step(key, over: many))
            case .term(let term): current = .term(try value(key, of: term))
            case .list, .constants: throw unsupported("“\(key)” is asked of a collection of constants.")
            }
        }
        return current
    }

    /// Returns the row of an object, and joins it if needed.
    func row(of object: SQLObject) -> SQLAlias {
        object.row ?? object.scope.row(of: object.entity, key: object.key) { nextAlias() }
    }

    // MARK: From one object

    private func property(_ key: String, of entity: SQLEntity) throws -> NSPropertyDescription {
        if let property = entity.entity.frozen?.byName[key] { return property }
        throw invalid(.unknownKeyPath, "\(entity.entity.name ?? "?") has no property named \"\(key)\"")
    }

    private func step(_ key: String, from object: SQLObject) throws -> SQLOperand {
        if key.uppercased() == "SELF" { return .object(object) }
        if object.entity.entity.frozen?.byName[key] == nil {
            switch key {
            case "objectID": return .object(object)
            case "entity": return .term(SQLTerm(sql: "\(row(of: object)).\(object.entity.identity.entity)", kind: .entity))
            default: break
            }
        }
        let property = try property(key, of: object.entity)
        switch object.entity[property] {
        case .attribute(let attribute):
            var term = dialect.column("\(row(of: object)).\(attribute.column)", attribute.storage)
            term.composite = SQLComposite(property, of: object.entity.entity, column: term.sql)
            return .term(term)
        case .toOne(let relation):
            return .object(try destination(of: property, "\(row(of: object)).\(relation.column)", in: object.scope))
        case .toMany(let relation):
            let scope = SQLScope(dialect)
            return .many(try related(relation, property, owner: object.key, scope, conditions: []))
        case .unstored: throw unstored(property, of: object.entity)
        }
    }

    private func unstored(_ property: NSPropertyDescription, of entity: SQLEntity) -> NSError {
        unsupported(
            property.isTransient
                ? "“\(property.name)” of “\(entity.entity)” is transient: no store has it."
                : "“\(property.name)” of “\(entity.entity)” is of a type that no column holds.")
    }

    private func destination(of property: NSPropertyDescription, _ key: SQLFragment, in scope: SQLScope) throws -> SQLObject {
        SQLObject(entity: try entity(at: property), key: key, scope: scope, row: nil)
    }

    private func entity(at property: NSPropertyDescription) throws -> SQLEntity {
        guard let destination = (property as? NSRelationshipDescription)?.destinationEntity else {
            throw unsupported("“\(property.name)” leads to no entity.")
        }
        guard let entity = schema.entity(destination) else {
            throw unsupported("“\(property.name)” leads to “\(destination)”, which this store does not keep.")
        }
        return entity
    }

    // MARK: To many

    /// Returns the objects of a to-many relationship, joined to the tables of a scope.
    private func related(
        _ relation: SQLToMany, _ property: NSPropertyDescription, owner: SQLFragment, _ scope: SQLScope, conditions: [SQLFragment]
    ) throws -> SQLCollection {
        let entity = try entity(at: property)
        let alias = nextAlias()
        let element: SQLObject
        var condition: SQLFragment
        let order: SQLFragment?
        switch relation {
        case .foreignKey(let foreign):
            scope.add("\(foreign.table) \(alias)")
            condition = "\(alias).\(foreign.column) = \(owner)"
            element = SQLObject(entity: entity, key: "\(alias).\(entity.identity.key)", scope: scope, row: alias)
            order = foreign.orderColumn.map { "\(alias).\($0)" }
        case .join(let join):
            scope.add("\(pairs(of: join)) \(alias)")
            condition = "\(alias).\(join.own) = \(owner)"
            if join.mayDangle {
                let row = nextAlias()
                let key: SQLFragment = "\(row).\(entity.identity.key)"
                condition = "\(condition) AND EXISTS (SELECT 1 FROM \(entity.table) \(row) WHERE \(key) = \(alias).\(join.other))"
            }
            element = SQLObject(entity: entity, key: "\(alias).\(join.other)", scope: scope, row: nil)
            order = join.orderColumn.map { "\(alias).\($0)" }
        }
        // The objects of several owners are unordered.
        return SQLCollection(
            scope: scope, conditions: conditions + [condition], element: .object(element), order: conditions.isEmpty ? order : nil)
    }

    /// Returns the join table, with each pair once; for a relationship that is its own inverse, each pair in both directions.
    private func pairs(of join: SQLJoin) -> SQLFragment {
        if !join.isReflexive { return join.mayRepeat ? "(SELECT DISTINCT \(join.own), \(join.other) FROM \(join.table))" : "\(join.table)" }
        let order: SQLFragment = join.orderColumn.map { ", \($0)" } ?? ""
        let none: SQLFragment = join.orderColumn == nil ? "" : ", NULL"
        return
            "(SELECT \(join.own), \(join.other)\(order) FROM \(join.table) UNION SELECT \(join.other), \(join.own)\(none) FROM \(join.table))"
    }

    private func step(_ key: String, over many: SQLCollection) throws -> SQLCollection {
        var many = many
        if key.uppercased() == "SELF" { return many }
        guard case .object(let object) = many.element else {
            many.element = .term(try value(key, of: many.value))
            return many
        }
        if let property = object.entity.entity.frozen?.byName[key], case .toMany(let relation) = object.entity[property] {
            return try related(relation, property, owner: object.key, many.scope, conditions: many.conditions)
        }
        switch try step(key, from: object) {
        case .term(let term): many.element = .term(term)
        case .object(let next):
            // An element without a destination is excluded.
            if key != "objectID" || next.key.sql != object.key.sql { many.conditions.append("\(next.key) IS NOT NULL") }
            many.element = .object(next)
        case .many, .list, .constants: throw unsupported("“\(key)” leads to collections of collections.")
        }
        return many
    }

    // MARK: Keys of values

    private static let textKeys: [String: SQLKind] = [
        "length": .number(.integer), "uppercaseString": .text, "lowercaseString": .text, "capitalizedString": .text,
        "lastPathComponent": .text, "pathExtension": .text,
    ]

    /// Translates a key of a value that is not an object.
    private func value(_ key: String, of term: SQLTerm) throws -> SQLTerm {
        if key.uppercased() == "SELF" || term.isNull { return term }
        switch term.kind {
        case .entity where key == "name": return entityName(term)
        case .text:
            guard let kind = Self.textKeys[key] else {
                // Throws the error of an unknown key.
                _ = try ValueOperations.read(key, of: .string(""), clause: clause)
                throw unsupported("SQL cannot read “\(key)” of a text.")
            }
            return SQLTerm(sql: try known(dialect.read(key, of: term), "“\(key)” of a text"), kind: kind)
        case .opaque where term.composite != nil:
            if let composite = term.composite, let element = try element(key, of: composite) { return element }
            throw invalid(.unknownKeyPath, "\(term.composite?.name ?? "?") has no property named \"\(key)\"")
        case .opaque: throw unsupported("“\(key)” is asked of a value that only a transformer or an archive can read.")
        case .object, .anyObject: throw unsupported("“\(key)” is asked of an object that no relationship leads to.")
        default: throw invalid(.unknownKeyPath, "\(term.kind.name) has no key \"\(key)\"")
        }
    }

    /// Returns an element of a composite attribute; nil if there is none with the name.
    private func element(_ key: String, of composite: SQLComposite) throws -> SQLTerm? {
        guard let (element, inner) = composite.element(key) else { return nil }
        let value = try known(dialect.element(element, at: inner.path, in: inner.column), "the elements of a composite attribute")
        return SQLTerm(sql: value, of: element, inner)
    }

    private func entityName(_ number: SQLTerm) -> SQLTerm {
        if let constant = number.constant?.number { return SQLTerm(sql: "\(SQLBinding.constant(constant, .stored))", kind: .text) }
        let cases = schema.entities.map { entity in
            "WHEN \(SQLBinding.integer(entity.number)) THEN \(SQLBinding.text(entity.entity.name ?? ""))" as SQLFragment
        }
        return SQLTerm(sql: "(CASE \(number.sql) \(cases.joined(by: " ")) END)", kind: .text)
    }
}
