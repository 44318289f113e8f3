#if canImport(SwiftUI)
    import Groceries
    import SwiftUI

    struct GroceryListView: View {
        let groceries: Groceries
        @State private var name = ""
        @State private var failure: String?

        var body: some View {
            List {
                Section {
                    TextField("Add an item", text: $name)
                        .onSubmit { add() }
                } footer: {
                    if let failure { Text(failure) }
                }
                ForEach(groceries.items) { item in
                    Button {
                        groceries.setBought(!item.isBought, item)
                    } label: {
                        Label(item.name, systemImage: item.isBought ? "checkmark.circle" : "circle")
                    }
                }
                Button("Remove what is bought") { groceries.removeBought() }
                    .disabled(!groceries.items.contains { $0.isBought })
            }
            .task { await groceries.follow() }
        }

        private func add() {
            do {
                try groceries.add(name)
                (name, failure) = ("", nil)
            } catch {
                failure = error.description
            }
        }
    }
#endif
