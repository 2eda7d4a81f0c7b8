import Foundation
import PredicateCases
import Predicates
import TestSupport

/// Entities of a random model, and values for them.
struct LanguageWorld: CaseWorld {
    let model: RandomModel

    private static let texts = RandomCases.texts + ["12", "2.5", "*a?"]
    private static let datas = [Data(), Data([0]), Data([0, 1]), Data([255])]
    private static let uuids = (0..<3).map { UUID(uuid: (UInt8($0), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9)) }
    private static let urls = ["https://a.example", "https://b.example/é", "file:///x"].compactMap { URL(string: $0) }

    func attributes(of entity: RandomModel.Entity, _ kinds: [CaseKind]) -> [String] { entity.attributes(kinds) }
    func destination(of entity: RandomModel.Entity, _ key: String) -> RandomModel.Entity {
        entity.toOne[key] ?? entity.toMany[key] ?? entity
    }
    func orderedKey(of entity: RandomModel.Entity) -> String? { nil }
    var hasOrder: Bool { true }
    var ordersTexts: Bool { true }
    var textKeys: [String] { [] }
    var functions: [String] { ["exp:"] }

    func constant(_ kind: CaseKind, _ random: inout SeededGenerator) -> PropertyValue {
        func pick<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }
        switch kind {
        case .bool: return .bool(Bool.random(using: &random))
        case .int: return .int64(pick(RandomCases.numbers))
        case .double: return .double(pick(RandomCases.fractions))
        case .decimal: return .decimal(pick(RandomCases.decimals + [Decimal(9_007_199_254_740_993 as Int64)]))
        case .text: return .string(pick(Self.texts))
        case .date: return .date(pick(RandomCases.dates))
        case .data: return .data(pick(Self.datas))
        case .uuid: return .uuid(pick(Self.uuids))
        case .url: return .url(pick(Self.urls))
        }
    }
}

/// Makes trees about the objects of a random model, of every construct of the language, and the objects themselves.
typealias LanguageCases = PredicateCases<LanguageWorld>

extension PredicateCases where World == LanguageWorld {
    init(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let model = RandomModel(&random)
        self.init(LanguageWorld(model: model), random: random, nilChance: 10)
    }

    var model: RandomModel { world.model }

    mutating func object(_ entity: RandomModel.Entity, depth: Int) -> RandomObject {
        var values: [String: PropertyValue] = [:]
        for attribute in entity.attributes { values[attribute.name] = constant(attribute.kind, nilChance: 4) }
        let object = RandomObject(entity, values)
        for name in entity.toMany.keys { object.toMany[name] = [] }
        guard depth > 0 else { return object }
        for (name, destination) in entity.toOne.sorted(by: { $0.key < $1.key }) where !chance(3) {
            object.toOne[name] = self.object(destination, depth: depth - 1)
        }
        for (name, destination) in entity.toMany.sorted(by: { $0.key < $1.key }) {
            object.toMany[name] = (0..<Int.random(in: 0...3, using: &random)).map { _ in self.object(destination, depth: depth - 1) }
        }
        return object
    }
}
