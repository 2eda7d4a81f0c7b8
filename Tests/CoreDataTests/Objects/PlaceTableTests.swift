import CoreData
import Predicates
import TestSupport
import Testing

@testable import ModelFiles
@testable import ObjectGraph

/// The table in which typed accessors find where a value lies.
@Suite("The places of an entity's properties") struct PlaceTableTests {
    @Test("are remembered for eight modules that name the same properties", arguments: [1, 3, 20, 150])
    func manyModules(propertyCount: Int) {
        let table = PlaceTable(propertyCount: propertyCount)
        // Names of a module stand close together, those of different modules far apart.
        func address(_ property: Int, _ module: Int) -> UInt { 0x5500_0000_0000 + UInt(module) * 0x21_0000 + UInt(property) * 16 }
        for module in 0..<8 {
            for property in 0..<propertyCount {
                let place = PropertyPlace(SlotLocation(offset: 8 * property, nullOffset: 0, nullMask: 1), index: property)
                table.insert(address(property, module), 1, place)
            }
        }
        for module in 0..<8 {
            for property in 0..<propertyCount {
                expect(PlaceTable.find(address(property, module), 1, in: table.entries, table.mask)?.index, equals: property)
                #expect(PlaceTable.find(address(property, module), 2, in: table.entries, table.mask) == nil)
            }
        }
    }
}
